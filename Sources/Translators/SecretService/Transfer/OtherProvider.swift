internal import Crypto
internal import VaubanKeychainModel
internal import VaubanLinuxHost

/// A client's view of another provider of the Secret Service. Nothing there is changed, except that the provider's own prompt may unlock
/// collections.
struct OtherProvider {
    private static let service = "org.freedesktop.Secret.Service"
    private let bus: BusConnection
    /// The provider's unique name, so that no reply comes from another program that takes over its well-known name.
    private let owner: String
    private let session: TransferSession

    /// Opens a session with the provider: an encrypted one, or a plain one if the provider supports no other.
    init(_ bus: BusConnection, owner: String) throws {
        self.bus = bus
        self.owner = owner
        session = try Self.encryptedSession(bus, owner) ?? Self.plainSession(bus, owner)
    }

    private static func encryptedSession(_ bus: BusConnection, _ owner: String) throws -> TransferSession? {
        let side = try KeyAgreement.Side()
        let answer: [BusValue]
        do {
            answer = try open(.aes, input: .bytes(SharedSecret(copying: side.publicKey)), bus: bus, owner: owner)
        } catch is BusError {
            return nil
        }
        guard answer.count == 2, let theirs = answer[0].unwrapped.secret, let path = answer[1].text,
            let key = try side.key(with: theirs.array)
        else { throw BusError(.invalidArguments, "The public key of its session cannot be used") }
        return TransferSession(path: path, client: owner, key: key)
    }

    private static func plainSession(_ bus: BusConnection, _ owner: String) throws -> TransferSession {
        let answer = try open(.plain, input: .string(""), bus: bus, owner: owner)
        guard answer.count == 2, let path = answer[1].text else { throw Self.unreadable }
        return TransferSession(path: path, client: owner, key: nil)
    }

    private static func open(
        _ algorithm: TransferSession.Algorithm, input: BusValue, bus: BusConnection, owner: String
    ) throws -> [BusValue] {
        try bus.call(
            owner, path: ObjectPath.root, interface: service, member: "OpenSession", [.string(algorithm.rawValue), .variant(input)],
            timeout: SecretServiceLimits.providerAnswerMax)
    }

    private static let unreadable = BusError(.invalidArguments, "Its answer cannot be read")

    // MARK: What it has

    func collections() throws -> [String] {
        guard let found = try properties(of: ObjectPath.root, Self.service)["Collections"] else { throw Self.unreadable }
        return found.texts
    }

    /// The collection that ends with the desktop session; nil if the provider has none.
    func sessionCollection() -> String? {
        let answer = try? call(ObjectPath.root, interface: Self.service, member: "ReadAlias", arguments: [.string(MemoryItems.collection)])
        return answer?.first?.text.flatMap { $0 == ObjectPath.none ? nil : $0 }
    }

    func collection(_ path: String) throws -> (label: String, isLocked: Bool, items: [String]) {
        let found = try properties(of: path, "org.freedesktop.Secret.Collection")
        return (found["Label"]?.text ?? "", found["Locked"]?.isTrue ?? false, found["Items"]?.texts ?? [])
    }

    func item(_ path: String) throws -> OtherItem {
        let found = try properties(of: path, "org.freedesktop.Secret.Item")
        return OtherItem(
            path: path, label: found["Label"]?.text ?? "", attributes: found["Attributes"]?.pairs ?? [],
            created: found["Created"]?.number ?? 0, modified: found["Modified"]?.number ?? 0, isLocked: found["Locked"]?.isTrue ?? false)
    }

    func secret(of path: String) throws -> (secret: SharedSecret, contentType: String) {
        let answer = try call(path, interface: "org.freedesktop.Secret.Item", member: "GetSecret", arguments: [.path(session.path)])
        guard let parts = answer.first?.elements, parts.count == 4, let parameters = parts[1].secret, let value = parts[2].secret,
            let contentType = parts[3].text
        else { throw Self.unreadable }
        return (try session.opened(parameters, value), contentType)
    }

    // MARK: Locks

    /// Unlocks collections or items, if necessary by the provider's own prompt. Returns false if the user refused or did not answer.
    func unlock(_ paths: [String], mayPrompt: Bool) throws -> Bool {
        let answer = try call(ObjectPath.root, interface: Self.service, member: "Unlock", arguments: [.paths(paths)])
        guard answer.count == 2, let prompt = answer[1].text else { throw Self.unreadable }
        return try prompt == ObjectPath.none || (mayPrompt && show(prompt))
    }

    /// Locks collections again. The provider may refuse, which has no effect on the reading.
    func lock(_ paths: [String]) {
        if !paths.isEmpty { _ = try? call(ObjectPath.root, interface: Self.service, member: "Lock", arguments: [.paths(paths)]) }
    }

    private func show(_ prompt: String) throws -> Bool {
        let interface = "org.freedesktop.Secret.Prompt"
        try bus.watch("type='signal',sender='\(owner)',interface='\(interface)',member='Completed',path='\(prompt)'")
        _ = try call(prompt, interface: interface, member: "Prompt", arguments: [.string("")])
        let deadline = MachineClock.monotonic + SecretServiceLimits.otherPromptTime
        var isCompleted = false
        // Withdraws the prompt if nothing waits for it any more.
        defer { if !isCompleted { _ = try? call(prompt, interface: interface, member: "Dismiss") } }
        guard let completed = try bus.signal(interface, "Completed", path: prompt, from: owner, until: deadline) else { return false }
        isCompleted = true
        return completed.first.map { !$0.isTrue } ?? false
    }

    // MARK: Calls

    private func properties(of path: String, _ interface: String) throws -> [String: BusValue] {
        let answer = try call(path, interface: "org.freedesktop.DBus.Properties", member: "GetAll", arguments: [.string(interface)])
        return Dictionary(answer.first?.entries.map { ($0.name, $0.value) } ?? [], uniquingKeysWith: { $1 })
    }

    private func call(_ path: String, interface: String, member: String, arguments: [BusValue] = []) throws -> [BusValue] {
        try bus.call(
            owner, path: path, interface: interface, member: member, arguments, timeout: SecretServiceLimits.providerAnswerMax)
    }
}

/// An item of another provider, without its secret.
struct OtherItem {
    let path: String
    let label: String
    var attributes: [SecretServiceAttributes.Pair]
    /// In seconds since 1970; 0 if the provider does not report it.
    let created: UInt64
    let modified: UInt64
    let isLocked: Bool
}

extension BusValue {
    fileprivate var number: UInt64? { if case .unsigned64(let number) = self { number } else { nil } }
}
