// The keys of the keychain. The agent keeps only their public halves: each signature fetches its key.

internal import Crypto
internal import Synchronization
internal import VaubanKeyWire
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanSSHWire
internal import VaubanSecretBytes

final class AgentKeyStore: Sendable {
    struct Entry: Sendable {
        let name: String
        let publicKey: SSHPublicKey
        let certificate: [UInt8]?
        /// The query that finds the item again.
        let item: ItemQuery
        /// The name that the item for how long an answer holds has; nil for an imported key, each signature of which needs its own answer.
        var holdName: String?

        var blobs: [[UInt8]] { [publicKey.blob] + (certificate.map { [$0] } ?? []) }
    }

    private struct Known: Sendable {
        var entries: [Entry] = []
        /// Public halves that `ssh-add -d` and `-D` removed from this agent.
        var hidden: Set<[UInt8]> = []
    }

    private let keychain: KeychainClient
    private let service: Service
    /// The connections to the enclave, on which answers hold.
    private let enclave: Mutex<KeyClient>
    private let known = Mutex(Known())
    private let filter: KeyFilter

    init(_ service: Service, _ filter: KeyFilter) {
        self.filter = filter
        keychain = KeychainClient(service: service, startsService: false)
        self.service = service
        enclave = Mutex(KeyClient(service: service, startsService: false))
    }

    /// Ends all answers that hold, and with each call in progress its connection.
    func endHolds() { enclave.withLock { $0 = KeyClient(service: service, startsService: false) } }

    /// Returns the keychain's keys; while it is locked, those of the last time it was unlocked. The public halves are not secret.
    var all: [Entry] {
        if let fresh = try? read() { known.withLock { $0.entries = fresh } }
        return known.withLock { known in known.entries.filter { !known.hidden.contains($0.publicKey.blob) } }
    }

    /// Returns the entry with this public half or certificate.
    func entry(_ blob: [UInt8]) -> Entry? {
        let kept = known.withLock { known in known.entries.first { $0.blobs.contains(blob) && !known.hidden.contains($0.publicKey.blob) } }
        return kept ?? all.first { $0.blobs.contains(blob) }
    }

    /// Stops offering the key until the agent restarts. It stays in the keychain.
    func hide(_ blob: [UInt8]) -> Bool {
        guard let entry = entry(blob) else { return false }
        endHolds()
        return known.withLock { $0.hidden.insert(entry.publicKey.blob).inserted }
    }

    func hideAll() {
        let all = all
        endHolds()
        known.withLock { known in known.hidden.formUnion(all.map(\.publicKey.blob)) }
    }

    /// Signs data. If the key requires a prompt, it shows this reason.
    func sign(
        _ data: [UInt8], with entry: Entry, flags: UInt32, _ prompting: KeyPrompting, _ cancellation: CallCancellation
    ) throws -> [UInt8] {
        var query = entry.item
        query.returns.insert(.data)
        query.authenticationUI = .allow
        query.operationPrompt = prompting.reason
        guard let found = try keychain.copyMatching(query, cancellation: cancellation).first else { throw Refusal(.itemNotFound) }
        guard let secret = found.takeSecret() else { throw Refusal(.itemNotFound) }
        guard query.kind == .key else { return try SoftwareKey.signature(of: data, with: secret, flags: flags) }
        // This is not the private key, but a value from which only the enclave can recover it.
        let key = try EnclaveKey(stored: secret.withUnsafeBytes { [UInt8]($0) })
        guard key.publicKey == entry.publicKey.point else { throw Refusal(.keyDamaged) }
        let outcome = try enclave.withLock(\.self).use(
            key, for: .sign, input: Array(SHA256.hash(data: data)), prompting: prompting, cancellation: cancellation)
        guard case .signature(let raw) = outcome else { throw Refusal(.internalError) }
        return SoftwareKey.elliptic(.p256, raw)
    }

    /// Returns for how long the user's answer holds for a key; nil if it is for one signature.
    func hold(of entry: Entry) -> SSHHold? {
        guard let name = entry.holdName else { return nil }
        var query = SSHItem.passwords(of: SSHItem.holdService)
        query.attributes[.account] = .text(name)
        guard case .data(let stored)? = try? records(query).first?.0.attributes[.generic] else { return nil }
        return SSHHold(stored: stored)
    }

    private func read() throws -> [Entry] {
        let certificates = Dictionary(
            try records(SSHItem.passwords(of: SSHItem.certificateService)).compactMap { record, _ -> (String, [UInt8])? in
                guard case .text(let name)? = record.attributes[.account], case .data(let blob)? = record.attributes[.generic] else {
                    return nil
                }
                return (name, blob)
            }, uniquingKeysWith: { $1 })
        func entry(_ name: String, key: SSHPublicKey, item: ItemQuery) -> Entry? {
            guard filter.offers(name, blob: key.blob) else { return nil }
            let certificate = certificates[name].flatMap { blob in (try? SSHPublicKey(blob: blob)) == key ? blob : nil }
            return Entry(
                name: PlainLine.of(name, charactersMax: AgentLimits.nameCharactersMax), publicKey: key, certificate: certificate, item: item
            )
        }
        let imported = try records(SSHItem.passwords(of: SSHItem.importedService)).compactMap { record, _ -> Entry? in
            guard case .text(let name)? = record.attributes[.account], case .data(let blob)? = record.attributes[.generic],
                let key = try? SSHPublicKey(blob: blob)
            else { return nil }
            var item = SSHItem.passwords(of: SSHItem.importedService)
            item.attributes[.account] = .text(name)
            item.limit = .one
            return entry(name, key: key, item: item)
        }
        var ofEnclave = SSHItem.ofEnclave
        // The values are not secret, and the items need no prompt: the key's own access control applies at its use.
        ofEnclave.returns.insert(.data)
        ofEnclave.authenticationUI = .skip
        let made = try records(ofEnclave).compactMap { record, value -> Entry? in
            guard let value, let key = try? EnclaveKey(stored: value), key.kind == .p256, let label = record.attributes[.applicationLabel]
            else { return nil }
            var item = SSHItem.ofEnclave
            item.attributes[.applicationLabel] = label
            item.limit = .one
            var name = ""
            if case .text(let text)? = record.attributes[.label] { name = text }
            var made = entry(name, key: SSHPublicKey(p256: key.publicKey), item: item)
            made?.holdName = name
            return made
        }
        return (made + imported).sorted { $0.name < $1.name }
    }

    /// Returns the matching records; an empty list if nothing matches.
    private func records(_ query: ItemQuery) throws -> [(ItemRecord, [UInt8]?)] {
        var found: [FoundEntry] = []
        do { found = try keychain.copyMatching(query) } catch { guard error.reason == .itemNotFound else { throw error } }
        return found.compactMap(Self.opened)
    }

    private static func opened(_ found: FoundEntry) -> (ItemRecord, [UInt8]?)? {
        guard let record = found.record else { return nil }
        guard let value = found.takeSecret() else { return (record, nil) }
        return (record, value.withUnsafeBytes { [UInt8]($0) })
    }
}

extension SSHPublicKey {
    fileprivate var point: [UInt8]? { if case .point(let point) = body { point } else { nil } }
}
