internal import Synchronization
internal import VaubanLinuxHost
internal import VaubanPlainText

/// The process of a client as the bus reports it.
struct BusProcess: Sendable {
    let number: Int32
    /// The process itself: from the kernel where the bus has it (dbus-daemon since 1.15.8), else opened by the number. Nil if it cannot be
    /// known that this is the client's process.
    let descriptor: Descriptor?

    /// Whether the number is still that of the process. Asked after something was read by the number.
    var isStillThere: Bool {
        guard let descriptor else { return false }
        return ProcessDescriptor.isAlive(descriptor) && ProcessDescriptor.pid(of: descriptor) == number
    }
}

/// What a client uses of the limits that all clients share is counted for its application, and outside of sandboxes for its process: more
/// connections give it no more.
enum ClientShare: Hashable, Sendable {
    case application(ClientApplication)
    case process(Int32)

    /// Whether it is that of an application in a sandbox, or of all that cannot be named.
    var isOfSandbox: Bool { if case .application = self { true } else { false } }
}

/// A client on the bus.
final class BusClient: Sendable {
    /// The unique name, which the bus never reuses.
    let name: String
    let process: Int32?
    /// The kernel's name of the process. The process chooses it, so it is suitable only for display.
    let program: String
    let application: ClientApplication
    let share: ClientShare
    /// The items that the user allowed the client to use, or that it created while its application was unknown, until it leaves the bus.
    private let permitted = Mutex<Set<String>>([])
    /// Cancelled when the client leaves the bus.
    let cancellation = CallCancellation()
    /// What its calls ask rooms for at the moment.
    private let requests = Mutex<[ObjectIdentifier: CallCancellation]>([:])
    /// The collections whose items it has listed.
    private let listed = Mutex<Set<String>>([])

    init(name: String, process: BusProcess?) {
        self.name = name
        self.process = process?.number
        let said =
            process.flatMap { SmallFile.bytes(path: "/proc/\($0.number)/comm", max: 64) }.map { String(decoding: $0, as: UTF8.self) } ?? ""
        program = PlainLine.of(said, charactersMax: 16)
        application = ClientApplication(process: process, program: program)
        // Who is a program outside of sandboxes has a process.
        share = if application == .user, let process { .process(process.number) } else { .application(application) }
    }

    func permit(_ item: String) { permitted.withLock { _ = $0.insert(item) } }
    func endPermit(_ item: String) { permitted.withLock { _ = $0.remove(item) } }
    func isPermitted(_ item: String) -> Bool { permitted.withLock { $0.contains(item) } }

    /// Notes that the client lists the items of a collection, so that it is told when the list changes.
    func lists(_ collection: String) {
        listed.withLock { listed in
            guard listed.count < SecretServiceLimits.collectionsOfSignalMax else { return }
            listed.insert(collection)
        }
    }

    func hasListed(_ collection: String) -> Bool { listed.withLock { $0.contains(collection) } }

    /// Has a request end with the client.
    func begin(_ request: CallCancellation) {
        requests.withLock { $0[ObjectIdentifier(request)] = request }
        // The client may have left before.
        if cancellation.isCancelled { request.cancel() }
    }

    func end(_ request: CallCancellation) { requests.withLock { $0[ObjectIdentifier(request)] = nil } }

    /// Ends everything that the client waits for: it has left the bus.
    func leave() {
        cancellation.cancel()
        for request in requests.withLock({ Array($0.values) }) { request.cancel() }
    }

    var words: String { "\(program.isEmpty ? "a program" : program)\(process.map { " (process \($0))" } ?? "")" }
}
