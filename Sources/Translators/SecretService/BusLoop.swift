internal import Synchronization
internal import VaubanLinuxHost

/// Messages from other threads that the bus thread sends.
final class Outbox: Sendable {
    private let waiting = Mutex<[BusOutgoing]>([])
    private let wakeup: Wakeup

    init() throws(SystemError) { wakeup = try Wakeup() }

    /// The descriptor that is readable while messages wait.
    var number: Int32 { wakeup.number }

    func add(_ outgoing: BusOutgoing) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(outgoing)
            return waiting.count == 1
        }
        if isFirst { wakeup.signal() }
    }

    func takeAll() -> [BusOutgoing] {
        wakeup.clear()
        return waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }
}

/// The loop of the bus thread: it passes calls on and sends their results. It never waits for a keychain or a user.
struct BusLoop {
    private let bus: BusConnection
    private let outbox: Outbox
    private let objects: SecretServiceObjects
    private let queue: CallQueue
    private var clients: [String: BusClient] = [:]

    init(_ bus: BusConnection, _ service: Service, isShared: Bool) throws(SystemError) {
        let outbox = try Outbox()
        self.bus = bus
        self.outbox = outbox
        objects = SecretServiceObjects(service, isShared: isShared) { outbox.add($0) }
        queue = CallQueue(objects) { outbox.add($0) }
    }

    /// Serves until the bus closes the connection, and throws that error.
    mutating func run() throws(SystemError) -> Never {
        while true {
            try handleEvents()
            for outgoing in outbox.takeAll() { try bus.send(outgoing) }
            try bus.wait(or: outbox.number)
        }
    }

    private mutating func handleEvents() throws(SystemError) {
        while true {
            switch try bus.next() {
            case .nothing: return
            case .call(let call): queue.add(call, from: client(call.sender))
            case .gone(let name):
                guard let client = clients.removeValue(forKey: name) else { continue }
                queue.end(of: client)
                objects.end(of: client)
            }
        }
    }

    private mutating func client(_ name: String) -> BusClient {
        if let known = clients[name] { return known }
        let client = BusClient(name: name, process: bus.clientProcess(name))
        clients[name] = client
        return client
    }
}
