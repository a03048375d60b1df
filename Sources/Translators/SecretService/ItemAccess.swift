internal import Synchronization
internal import VaubanAccessPolicy
internal import VaubanAuthenticationClient
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanUserModel

/// An item that a client may use only with the user's consent.
struct ForeignItem: Sendable {
    let place: ItemPlace
    let label: String

    /// Throws if the item is locked, since a prompt could not show its label.
    init(_ item: StoredItem, at place: ItemPlace) throws(Refusal) {
        guard !item.isLocked else { throw Refusal(.locked) }
        self.place = place
        label = item.label
    }
}

/// The items that a sandboxed application may use: those that it stored, and those that the user permitted. A permission is stored as a
/// generic password without a secret, or only in memory if its item is in the memory collection.
final class ItemAccess: Sendable {
    static let service = "secret-service-permission"

    /// The operations in progress that may give permissions: prompts for consent, and the storing of new items.
    private struct Consents: Sendable {
        var count = 0
        /// The number of endings of permissions so far, and for each item the number at its last ending.
        var endings: UInt64 = 0
        var ended: [String: UInt64] = [:]
        /// How many consents are storing a permission, by the permission's account. Such a permission counts only after a check that it has
        /// not ended meanwhile.
        var pending: [String: Int] = [:]

        func hasEnded(_ identifier: String, since start: UInt64) -> Bool { ended[identifier, default: 0] > start }

        /// Notes that the permission of a consent is no longer pending: it was stored and checked, or deleted again.
        mutating func endPending(_ account: String) {
            let count = pending[account, default: 1] - 1
            pending[account] = count > 0 ? count : nil
        }
    }

    private let consents = ThreadMutex(Consents())
    /// The applications that may use items of the memory collection, by item.
    private let inMemory = Mutex<[String: Set<String>]>([:])
    private let keychain: KeychainClient
    private let authentication: AuthenticationClient
    /// Whether every application may use every item.
    private let isShared: Bool

    init(_ keychain: KeychainClient, _ service: Service, isShared: Bool) {
        self.keychain = keychain
        authentication = AuthenticationClient(service: service, startsService: false)
        self.isShared = isShared
    }

    func isLimited(_ client: BusClient) -> Bool { !isShared && client.application != .user }

    func throwIfLimited(_ client: BusClient) throws(BusError) {
        if isLimited(client) { throw BusError(.accessDenied, "A sandboxed app cannot change this") }
    }

    /// Returns the owner for the items that a client stores, or nil for the user.
    func owner(for client: BusClient) -> String? {
        if case .sandboxed(let name) = client.application { name } else { nil }
    }

    func mayUse(_ item: StoredItem, _ identifier: String, by client: BusClient) throws(Refusal) -> Bool {
        guard isLimited(client), !client.isPermitted(identifier) else { return true }
        guard !item.isLocked, case .sandboxed(let name) = client.application else { return false }
        if item.owner == name { return true }
        if MemoryItems.isGiven(identifier) { return inMemory.withLock { $0[identifier]?.contains(name) ?? false } }
        // Checked before the search, since another client may take the item over after its permission was checked and before it is stored.
        guard consents.withLock({ $0.pending[Self.account(name, identifier)] == nil }) else { return false }
        do throws(Refusal) { return try !keychain.search(query(name, identifier)).isEmpty } catch {
            guard error.reason == .itemNotFound else { throw error }
            return false
        }
    }

    /// Returns the applications that the user allowed to use an item.
    func applications(permitted identifier: String) throws(Refusal) -> Set<String> {
        if MemoryItems.isGiven(identifier) { return inMemory.withLock { $0[identifier] ?? [] } }
        return try permissions(found: permissions(for: identifier))[identifier] ?? []
    }

    /// Returns the applications that the user permitted to use items of a collection, by item. The result may include items of other
    /// collections.
    func permissions(in collection: String, repeats: Bool = true) throws(Refusal) -> [String: Set<String>] {
        if collection == MemoryItems.collection { return inMemory.withLock { $0 } }
        return try permissions(found: permissions(for: nil), repeats: repeats)
    }

    private func permissions(found query: ItemQuery, repeats: Bool = true) throws(Refusal) -> [String: Set<String>] {
        var query = query
        query.limit = .all
        query.returns.insert(.attributes)
        query.authenticationUI = .describe
        // Before the search, as in `mayUse`.
        let pending = consents.withLock { Set($0.pending.keys) }
        do throws(Refusal) {
            var found: [String: Set<String>] = [:]
            for entry in try keychain.search(query, repeats: repeats) {
                guard let attributes = entry.record?.attributes, let account = ItemMapping.text(attributes[.account]),
                    let identifier = ItemMapping.text(attributes[.generic]), account.hasSuffix(" \(identifier)"),
                    !pending.contains(account)
                else { continue }
                found[identifier, default: []].insert(String(account.dropLast(identifier.count + 1)))
            }
            return found
        } catch {
            guard error.reason == .itemNotFound else { throw error }
            return [:]
        }
    }

    // MARK: Consent

    /// Prompts the user to allow an application to use items of other owners, and stores the permissions. `items` reads the items. An item
    /// whose permissions end after that gets none, since it may no longer be what the prompt showed. Returns the items that got a
    /// permission. Throws unless the user consents.
    func promptForConsent(to client: BusClient, _ wait: UnlockWait, items read: () throws -> [ForeignItem]) throws -> [ForeignItem] {
        try notingEndings { start in
            let items = try read()
            guard !items.isEmpty else { return [] }
            guard let call = wait.beginCall(afterUnlock: true) else { throw Refusal(.cancelled) }
            try authentication.evaluate(.biometryOrPasscode, reason: Self.reason(for: items, client.application), cancellation: call)
            return try items.filter { try permit($0, to: client, since: start) }
        }
    }

    /// Records the endings of permissions while `body` runs, so that `body` can omit a permission that ended after its start.
    func notingEndings<Value>(_ body: (_ start: UInt64) throws -> Value) throws -> Value {
        let start = consents.withLock { consents in
            consents.count += 1
            return consents.endings
        }
        defer {
            consents.withLock { consents in
                consents.count -= 1
                if consents.count == 0 { consents.ended = [:] }
            }
        }
        return try body(start)
    }

    /// Returns the reason for a prompt for consent. Each label has the same maximum length, so that one long label cannot hide the others.
    private static func reason(for items: [ForeignItem], _ application: ClientApplication) -> String {
        let name = PlainLine.of(application.words, charactersMax: 80, bytesMax: 320)
        let beginning = "to let \(name) use, from now on, what other programs stored: "
        let characters = (PromptRequest.reasonCharactersMax - beginning.count) / items.count - separator.count
        let bytes = (PromptRequest.reasonBytesMax - beginning.utf8.count) / items.count - separator.count
        let labels = items.map { item in
            let label = PlainLine.of(item.label, charactersMax: characters, bytesMax: bytes)
            return label.isEmpty ? "an item without a label" : label
        }
        return beginning + labels.joined(separator: separator)
    }

    private static let separator = ", "

    private static func account(_ name: String, _ identifier: String) -> String { "\(name) \(identifier)" }

    /// Permits an unidentified client to use an item until it leaves the bus, unless permissions for the item ended since `start`. Returns
    /// whether the client may use it.
    @discardableResult
    func permit(_ identifier: String, to client: BusClient, since start: UInt64) -> Bool {
        consents.withLock { consents in
            guard !consents.hasEnded(identifier, since: start) else { return false }
            client.permit(identifier)
            return true
        }
    }

    /// Stores the permission for an item, unless permissions for it ended since `start`. Returns whether the client may use it.
    private func permit(_ item: ForeignItem, to client: BusClient, since start: UInt64) throws(Refusal) -> Bool {
        let identifier = item.place.identifier
        guard case .sandboxed(let name) = client.application else { return permit(identifier, to: client, since: start) }
        if MemoryItems.isGiven(identifier) {
            return consents.withLock { consents in
                guard !consents.hasEnded(identifier, since: start) else { return false }
                inMemory.withLock { _ = $0[identifier, default: []].insert(name) }
                return true
            }
        }
        let account = Self.account(name, identifier)
        let mayBegin = consents.withLock { consents in
            guard !consents.hasEnded(identifier, since: start) else { return false }
            consents.pending[account, default: 0] += 1
            return true
        }
        guard mayBegin else { return false }
        var failure: Refusal?
        do throws(Refusal) { try add(item, name) } catch { failure = error }
        // From here on the permission is stored, so whoever ends permissions finds and deletes it.
        let hasEnded = consents.withLock { consents in
            let hasEnded = consents.hasEnded(identifier, since: start)
            if !hasEnded { consents.endPending(account) }
            return hasEnded
        }
        if hasEnded {
            // If the deletion fails, the account stays pending, so the permission never counts.
            try keychain.deleteIfPresent(permission(of: name, for: identifier))
            consents.withLock { $0.endPending(account) }
        }
        if let failure { throw failure }
        return !hasEnded
    }

    private func add(_ item: ForeignItem, _ name: String) throws(Refusal) {
        let identifier = item.place.identifier
        let attributes = ItemAttributes([
            .service: .text(Self.service), .account: .text(Self.account(name, identifier)), .generic: .text(identifier),
            .label: .text("\(name) may use \(item.label)"),
        ])
        do throws(Refusal) {
            _ = try keychain.add(ItemRecord(kind: .genericPassword, attributes: attributes), secret: SecretBytes(copying: []))
        } catch {
            guard error.reason == .duplicateItem else { throw error }
        }
    }

    /// Ends the permissions for an item that is taken over, given other attributes or deleted, since the user consented to the item as it
    /// was. With `areKept` false, there are no stored permissions, and only those of prompts in progress end.
    func endPermissions(for identifier: String, areKept: Bool = true) throws(Refusal) {
        noteEnding(for: identifier)
        if MemoryItems.isGiven(identifier) {
            inMemory.withLock { $0[identifier] = nil }
        } else if areKept {
            try keychain.deleteIfPresent(permissions(for: identifier))
        }
    }

    /// Ends the permissions that operations in progress are about to give, but none that are stored.
    func noteEnding(for identifier: String) {
        consents.withLock { consents in
            guard consents.count > 0 else { return }
            consents.endings += 1
            consents.ended[identifier] = consents.endings
        }
    }

    /// Returns the query for all permissions for an item, or for any.
    private func permissions(for identifier: String?) -> ItemQuery {
        var attributes = ItemAttributes([.service: .text(Self.service), .secretServiceAttributes: .data([])])
        if let identifier { attributes[.generic] = .text(identifier) }
        return ItemQuery(kind: .genericPassword, attributes: attributes)
    }

    /// Returns the query for the permission of an application for an item.
    private func permission(of name: String, for identifier: String) -> ItemQuery {
        ItemQuery(
            kind: .genericPassword,
            attributes: ItemAttributes([
                .service: .text(Self.service), .account: .text(Self.account(name, identifier)), .secretServiceAttributes: .data([]),
            ]))
    }

    private func query(_ name: String, _ identifier: String) -> ItemQuery {
        var query = permission(of: name, for: identifier)
        query.returns.insert(.reference)
        query.authenticationUI = .describe
        return query
    }
}
