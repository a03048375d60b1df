internal import Synchronization

/// The clients on the bus, to which signals about items and wallets are sent individually. A broadcast would also reach sandboxed
/// applications, and reveal to them what other programs store.
final class Listeners: Sendable {
    private let clients = Mutex<[String: BusClient]>([:])

    func add(_ client: BusClient) { clients.withLock { $0[client.name] = client } }

    func end(of client: String) { clients.withLock { _ = $0.removeValue(forKey: client) } }

    /// Returns how many items the clients of a share have read, as `BusClient.reads` counts them.
    func itemsRead(by share: ClientShare) -> Int { all.reduce(0) { $0 + ($1.share == share ? $1.readItems.count : 0) } }

    var all: [BusClient] { clients.withLock { Array($0.values) } }
}
