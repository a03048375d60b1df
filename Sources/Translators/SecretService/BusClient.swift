internal import Synchronization
internal import VaubanLinuxHost
internal import VaubanPlainText

/// The process of a client as the bus reports it.
struct BusProcess: Sendable {
    let number: Int32
    /// The process itself: from the kernel if the bus has its descriptor (dbus-daemon since 1.15.8), otherwise opened by its number. Nil if
    /// the client's process cannot be identified with certainty.
    let descriptor: Descriptor?

    /// Whether the number still belongs to the process. To be checked after something was read by the number.
    var isStillThere: Bool {
        guard let descriptor else { return false }
        return ProcessDescriptor.isAlive(descriptor) && ProcessDescriptor.pid(of: descriptor) == number
    }
}

/// The key under which a client's use of shared limits is counted: its application, or outside of sandboxes its process. Opening more
/// connections therefore gains nothing.
enum ClientShare: Hashable, Sendable {
    case application(ClientApplication)
    case process(Int32)

    /// Whether the share belongs to a sandboxed application, or to the clients that cannot be identified.
    var isOfSandbox: Bool { if case .application = self { true } else { false } }
}

/// A client on the bus.
final class BusClient: Sendable {
    /// The unique name, which the bus never reuses.
    let name: String
    let process: Int32?
    /// The kernel's name of the process. The process chooses it, so it is suitable for display only.
    let program: String
    let application: ClientApplication
    let share: ClientShare
    /// The items that the user allowed the client to use, or that it created while its application was unknown. Valid until the client
    /// leaves the bus.
    private let permitted = Mutex<Set<String>>([])
    /// Cancelled when the client leaves the bus.
    let cancellation = CallCancellation()
    /// The requests to rooms that the client's calls have in progress.
    private let requests = Mutex<[ObjectIdentifier: CallCancellation]>([:])
    /// The collections whose items the client has listed.
    private let listed = Mutex<Set<String>>([])
    /// The paths of the keychain's items whose properties the client has read.
    private let read = Mutex<Set<String>>([])

    init(name: String, process: BusProcess?) {
        self.name = name
        self.process = process?.number
        let said =
            process.flatMap { SmallFile.bytes(path: "/proc/\($0.number)/comm", max: 64) }.map { String(decoding: $0, as: UTF8.self) } ?? ""
        program = PlainLine.of(said, charactersMax: 16)
        application = ClientApplication(process: process, program: program)
        // A program outside of sandboxes is identified by its process.
        share = if application == .user, let process { .process(process.number) } else { .application(application) }
    }

    func permit(_ item: String) { permitted.withLock { _ = $0.insert(item) } }
    func endPermit(_ item: String) { permitted.withLock { _ = $0.remove(item) } }
    func isPermitted(_ item: String) -> Bool { permitted.withLock { $0.contains(item) } }

    /// Records that the client listed the items of a collection, so that it is notified when the list changes.
    func lists(_ collection: String) {
        listed.withLock { listed in
            guard listed.count < SecretServiceLimits.collectionsOfSignalMax else { return }
            listed.insert(collection)
        }
    }

    func hasListed(_ collection: String) -> Bool { listed.withLock { $0.contains(collection) } }
    var listedCollections: Set<String> { listed.withLock { $0 } }
    func forgets(collection: String) { listed.withLock { _ = $0.remove(collection) } }

    /// Records that the client read the properties of an item of the keychain, so that it is notified when the lock changes them.
    func reads(item path: String) {
        read.withLock { read in
            guard read.count < SecretServiceLimits.itemsReadMax else { return }
            read.insert(path)
        }
    }

    var readItems: Set<String> { read.withLock { $0 } }
    func forgets(item path: String) { read.withLock { _ = $0.remove(path) } }

    /// Registers a request, which is cancelled when the client leaves the bus.
    func begin(_ request: CallCancellation) {
        requests.withLock { $0[ObjectIdentifier(request)] = request }
        // The client may have left already.
        if cancellation.isCancelled { request.cancel() }
    }

    func end(_ request: CallCancellation) { requests.withLock { $0[ObjectIdentifier(request)] = nil } }

    /// Cancels everything that the client waits for, since it has left the bus.
    func leave() {
        cancellation.cancel()
        for request in requests.withLock({ Array($0.values) }) { request.cancel() }
    }

    var words: String { "\(program.isEmpty ? "a program" : program)\(process.map { " (process \($0))" } ?? "")" }
}
