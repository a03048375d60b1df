internal import Synchronization

/// The clients on the bus, which signals about items and wallets are sent to one by one. A broadcast would reach applications in sandboxes
/// too, and tell them of what others store.
final class Listeners: Sendable {
    private let clients = Mutex<[String: BusClient]>([:])

    func add(_ client: BusClient) { clients.withLock { $0[client.name] = client } }

    func end(of client: String) { clients.withLock { _ = $0.removeValue(forKey: client) } }

    var all: [BusClient] { clients.withLock { Array($0.values) } }
}
