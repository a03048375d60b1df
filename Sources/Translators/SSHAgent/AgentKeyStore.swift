// The keys in the keychain. The agent keeps only their public halves and fetches a private key for each signature.

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
        /// The name as prompts and lists show it.
        let name: String
        let publicKey: SSHPublicKey
        /// What the agent offers: the public half, then its certificate.
        var blobs: [[UInt8]]
        /// The query that finds the item again.
        let item: ItemQuery
        /// The name under which the duration of answers for this key is stored; nil for an imported key, each signature of which needs its
        /// own answer.
        let holdName: String?

        init(name: String, publicKey: SSHPublicKey, blobs: [[UInt8]], item: ItemQuery, isOfEnclave: Bool) {
            self.name = PlainLine.of(name, charactersMax: AgentLimits.nameCharactersMax)
            (self.publicKey, self.blobs, self.item) = (publicKey, blobs, item)
            holdName = isOfEnclave ? name : nil
        }

        var isOfEnclave: Bool { holdName != nil }

        func named(_ name: String) -> Entry { Entry(name: name, publicKey: publicKey, blobs: blobs, item: item, isOfEnclave: isOfEnclave) }
    }

    private struct Known: Sendable {
        var entries: [Entry] = []
        /// Public halves and certificates that `ssh-add -d` and `-D` removed from this agent.
        var hidden: Set<[UInt8]> = []
        /// Whether the keychain was read since the start, or the user was told why not.
        var isExplained = false
        /// The latest time until which an answer may hold, in nanoseconds of the boot-time clock.
        var holdEnd: UInt64 = 0

        /// The keys with at least one public half or certificate to offer.
        var offered: [Entry] {
            entries.compactMap { entry in
                var entry = entry
                entry.blobs.removeAll(where: hidden.contains)
                return entry.blobs.isEmpty ? nil : entry
            }
        }
    }

    private let keychain: KeychainClient
    private let service: Service
    /// The connections to the enclave, to which answers that hold are bound.
    private let enclave: Mutex<KeyClient>
    private let known = Mutex(Known())
    private let filter: KeyFilter

    init(_ service: Service, _ filter: KeyFilter) {
        self.filter = filter
        keychain = KeychainClient(service: service, startsService: false)
        self.service = service
        enclave = Mutex(KeyClient(service: service, startsService: false))
    }

    /// Ends all answers that hold by replacing the connections. A call in progress keeps its connection until it ends.
    func endHolds() {
        enclave.withLock { $0 = KeyClient(service: service, startsService: false) }
        known.withLock { $0.holdEnd = 0 }
    }

    /// Whether the end of this agent would end answers that hold, or offer again what the user removed from it.
    var hasState: Bool { known.withLock { !$0.hidden.isEmpty || $0.holdEnd > MachineClock.boot } }

    /// Whether another agent would list the same stored keys: while the keychain is locked, only this one knows them.
    var isListedAgain: Bool { known.withLock(\.entries).isEmpty || (try? read()) != nil }

    /// Whether the keychain refuses a program that was replaced while it runs. That of user mode serves every program of its user.
    var refusesReplacedPrograms: Bool { service.mode == .system }

    /// Returns the keychain's keys; while it is locked, those of the last time it was unlocked. The public halves are not secret.
    var all: [Entry] {
        do {
            let fresh = try read()
            known.withLock { ($0.entries, $0.isExplained) = (fresh, true) }
        } catch {
            explain(error)
        }
        return known.withLock(\.offered)
    }

    /// Says, once, why an agent that could not read the keychain since its start offers no stored key.
    private func explain(_ error: any Error) {
        let isFirst = known.withLock { known in
            defer { known.isExplained = true }
            return !known.isExplained
        }
        guard isFirst, let refusal = error as? Refusal else { return }
        let isLocked = [.locked, .beforeFirstUnlock].contains(refusal.reason)
        printToStandardError(
            isLocked
                ? "The keychain is locked, so stored keys cannot be listed. Run: vauban unlock"
                : "Stored keys cannot be listed: \(refusal.message)")
    }

    /// Returns the entry with this public half or certificate. Its name may have changed since the keychain was last read.
    func entry(_ blob: [UInt8]) -> Entry? {
        known.withLock(\.offered).first { $0.blobs.contains(blob) } ?? all.first { $0.blobs.contains(blob) }
    }

    /// Stops offering a public half or a certificate until the agent restarts. The key stays in the keychain.
    func hide(_ blob: [UInt8]) -> Bool {
        guard entry(blob) != nil else { return false }
        endHolds()
        return known.withLock { $0.hidden.insert(blob).inserted }
    }

    func hideAll() {
        let all = all
        endHolds()
        known.withLock { known in known.hidden.formUnion(all.flatMap(\.blobs)) }
    }

    /// Signs data. If the key requires a prompt, its reason is what `prompting` returns for the entry with the key's current name.
    func sign(
        _ data: [UInt8], with entry: Entry, flags: UInt32, _ cancellation: CallCancellation, prompting: (Entry) -> KeyPrompting
    ) throws -> [UInt8] {
        do {
            return try signature(of: data, with: entry, flags: flags, cancellation, prompting)
        } catch let refusal as Refusal where refusal.reason == .itemNotFound {
            // The key may have been stored again under another name since it was listed.
            guard let fresh = all.first(where: { $0.publicKey == entry.publicKey }) else { throw refusal }
            return try signature(of: data, with: fresh, flags: flags, cancellation, prompting)
        }
    }

    private func signature(
        of data: [UInt8], with entry: Entry, flags: UInt32, _ cancellation: CallCancellation, _ prompting: (Entry) -> KeyPrompting
    ) throws -> [UInt8] {
        var query = entry.item
        query.returns.insert(.data)
        query.authenticationUI = .allow
        if !entry.isOfEnclave { query.operationPrompt = prompting(entry).reason }
        guard let found = try keychain.copyMatching(query, cancellation: cancellation).first, let record = found.record,
            let secret = found.takeSecret()
        else { throw Refusal(.itemNotFound) }
        guard entry.isOfEnclave else {
            return try SoftwareKey.signature(of: data, with: secret, of: entry.publicKey, flags: flags)
        }
        // The stored value is not the private key: only the enclave can recover the key from it.
        let key = try EnclaveKey(stored: secret.withUnsafeBytes { [UInt8]($0) })
        guard key.publicKey == entry.publicKey.point else { throw Refusal(.keyDamaged) }
        // `vauban ssh rotate` renames keys, so the name is read again.
        let current = entry.named(record.label)
        guard filter.offers(record.label, blob: entry.publicKey.blob) else { throw Refusal(.itemNotFound) }
        let prompt = prompting(current)
        let outcome = try enclave.withLock(\.self).use(
            key, for: .sign, input: Array(SHA256.hash(data: data)), prompting: prompt, cancellation: cancellation)
        guard case .signature(let raw) = outcome else { throw Refusal(.internalError) }
        if prompt.hold != nil { known.withLock { $0.holdEnd = MachineClock.boot + UInt64(SSHHold.secondsMax) * 1_000_000_000 } }
        return SoftwareKey.elliptic(.p256, raw)
    }

    /// Returns for how long an answer holds for a key; nil if each signature needs its own answer.
    func hold(of entry: Entry) -> SSHHold? {
        guard let name = entry.holdName else { return nil }
        var query = SSHItem.passwords(of: SSHItem.holdService)
        query.attributes[.account] = .text(name)
        guard case .data(let stored)? = try? records(query).first?.0.attributes[.generic] else { return nil }
        return SSHHold(stored: stored)
    }

    /// Returns the places where the user registered keys (`vauban ssh where`), if they can be read without a prompt.
    var places: [String] {
        var query = SSHItem.passwords(of: SSHItem.placesService)
        query.returns.insert(.data)
        query.authenticationUI = .skip
        let values = ((try? records(query)) ?? []).compactMap(\.1)
        return values.flatMap { value in
            String(decoding: value, as: UTF8.self).split(separator: "\n").compactMap { line in
                // A line begins with the day.
                line.split(separator: " ", maxSplits: 1).dropFirst().first.map(String.init)
            }
        }
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
                name: name, publicKey: key, blobs: [key.blob] + (certificate.map { [$0] } ?? []), item: item, isOfEnclave: item.kind == .key
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
        // The values are not secret, and reading the items needs no prompt. The key's own access control applies when it signs.
        ofEnclave.returns.insert(.data)
        ofEnclave.authenticationUI = .skip
        let made = try records(ofEnclave).compactMap { record, value -> Entry? in
            guard let value, let key = try? EnclaveKey(stored: value), key.kind == .p256, let label = record.attributes[.applicationLabel]
            else { return nil }
            var item = SSHItem.ofEnclave
            item.attributes[.applicationLabel] = label
            item.limit = .one
            return entry(record.label, key: SSHPublicKey(p256: key.publicKey), item: item)
        }
        return (made + imported).sorted { $0.name < $1.name }
    }

    /// Returns the matching records; an empty list if nothing matches.
    private func records(_ query: ItemQuery) throws -> [(ItemRecord, [UInt8]?)] {
        var found: [ReceivedItem] = []
        do { found = try keychain.copyMatching(query) } catch { guard error.reason == .itemNotFound else { throw error } }
        return found.compactMap(Self.opened)
    }

    private static func opened(_ found: ReceivedItem) -> (ItemRecord, [UInt8]?)? {
        guard let record = found.record else { return nil }
        guard let value = found.takeSecret() else { return (record, nil) }
        return (record, value.withUnsafeBytes { [UInt8]($0) })
    }
}

extension ItemRecord {
    /// The label, which is the name of a key in the enclave.
    fileprivate var label: String { if case .text(let text)? = attributes[.label] { text } else { "" } }
}

extension SSHPublicKey {
    fileprivate var point: [UInt8]? { if case .point(let point) = body { point } else { nil } }
}
