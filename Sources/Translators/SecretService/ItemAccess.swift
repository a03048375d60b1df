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

    /// Throws if the item is locked: a prompt could not say what it is.
    init(_ item: StoredItem, at place: ItemPlace) throws(Refusal) {
        guard !item.isLocked else { throw Refusal(.locked) }
        self.place = place
        label = item.label
    }
}

/// The items that a sandboxed application may use: those that it stored, and those that the user allowed it to use. Each permission is a
/// generic password without a secret. One for an item of the memory is in the memory too, so that nothing of it is kept.
final class ItemAccess: Sendable {
    static let service = "secret-service-permission"

    /// What may give permissions and is under way: prompts for consent, and the storing of new items.
    private struct Consents: Sendable {
        var count = 0
        /// The number of times that permissions ended, and of the last time for each item.
        var endings: UInt64 = 0
        var ended: [String: UInt64] = [:]
        /// How many consents are storing a permission, by its account. It does not count until it is known that it did not end meanwhile.
        var pending: [String: Int] = [:]

        func hasEnded(_ identifier: String, since start: UInt64) -> Bool { ended[identifier, default: 0] > start }

        mutating func settle(_ account: String) {
            let count = pending[account, default: 1] - 1
            pending[account] = count > 0 ? count : nil
        }
    }

    private let consents = ThreadMutex(Consents())
    /// The applications that may use items of the memory, by the items.
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

    func throwIfLimited(_ client: BusClient) throws(BusFailure) {
        if isLimited(client) { throw BusFailure(.accessDenied, "A sandboxed app cannot change this") }
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
        // Looked at before the search: who takes the item over may have begun after the permission was checked and before it was stored.
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

    /// Returns the applications that the user allowed to use items of a collection, by the items, perhaps with items of others.
    func permissions(in collection: String, repeats: Bool = true) throws(Refusal) -> [String: Set<String>] {
        if collection == MemoryItems.collection { return inMemory.withLock { $0 } }
        return try permissions(found: permissions(for: nil), repeats: repeats)
    }

    private func permissions(found query: ItemQuery, repeats: Bool = true) throws(Refusal) -> [String: Set<String>] {
        var query = query
        query.limit = .all
        query.returns.insert(.attributes)
        query.authenticationUI = .describe
        do throws(Refusal) {
            var found: [String: Set<String>] = [:]
            for entry in try keychain.search(query, repeats: repeats) {
                guard let attributes = entry.record?.attributes, let account = ItemMapping.text(attributes[.account]),
                    let identifier = ItemMapping.text(attributes[.generic]), account.hasSuffix(" \(identifier)")
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

    /// Prompts the user to allow an application to use items of other owners, and stores the permissions. `items` reads them; those for
    /// which permissions end from then on get none, since the user was shown what they were. Returns the items that got one, and throws
    /// unless the user consents.
    func askConsent(to client: BusClient, _ wait: UnlockWait, items read: () throws -> [ForeignItem]) throws -> [ForeignItem] {
        try notingEndings { start in
            let items = try read()
            guard !items.isEmpty else { return [] }
            guard let call = wait.beginCall(afterUnlock: true) else { throw Refusal(.cancelled) }
            try authentication.evaluate(.biometryOrPasscode, reason: Self.reason(for: items, client.application), cancellation: call)
            return try items.filter { try permit($0, to: client, since: start) }
        }
    }

    /// Has the endings of permissions noted until `body` returns, which gives permissions only if they did not end since its beginning.
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

    /// Returns what a prompt for consent says. Each item has room for its label, so that an application cannot choose what is read of them.
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

    /// Permits a client that has no name to use an item until it leaves the bus, unless permissions for the item ended since `start`.
    /// Returns whether it may use it.
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
        // Who ends permissions from here on finds this one stored, and deletes it.
        let hasEnded = consents.withLock { consents in
            let hasEnded = consents.hasEnded(identifier, since: start)
            if !hasEnded { consents.settle(account) }
            return hasEnded
        }
        if hasEnded {
            // One that cannot be deleted never counts.
            try keychain.deleteIfPresent(permission(of: name, for: identifier))
            consents.withLock { $0.settle(account) }
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

    /// Ends the permissions for an item that is taken over, given other attributes or deleted: the user consented to what it was.
    /// `areKept` is whether there may be any, besides those that prompts are for at the moment.
    func endPermissions(for identifier: String, areKept: Bool = true) throws(Refusal) {
        noteEnding(for: identifier)
        if MemoryItems.isGiven(identifier) {
            inMemory.withLock { $0[identifier] = nil }
        } else if areKept {
            try keychain.deleteIfPresent(permissions(for: identifier))
        }
    }

    /// Ends the permissions for an item that are about to be given, and leaves those that were.
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
