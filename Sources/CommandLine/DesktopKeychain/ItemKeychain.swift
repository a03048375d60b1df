import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
package import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// The user's keychain as the window uses it. Every call blocks until the service answers, and a call that needs the user's approval until
/// the user has answered, so call them from a background thread.
package final class ItemKeychain: Sendable {
    let keychain: KeychainClient
    private let service: Service
    let authentication: AuthenticationClient
    /// Starts a stopped service. The other two clients do not: a request in the background would undo `vauban stop`.
    private let starter: AuthenticationClient

    /// Called with the place of the prompt that the user should answer.
    package typealias Waiting = @Sendable (String) -> Void

    /// Finds the user's service. With the installed service, hides this process's memory from the user's other programs; in user mode the
    /// rooms are such programs.
    package init() throws {
        service = try Service.current()
        if service.mode == .system { try ProcessHardening.hide() }
        keychain = KeychainClient(service: service, startsService: false)
        authentication = AuthenticationClient(service: service, startsService: false)
        starter = AuthenticationClient(service: service)
    }

    /// Whether the window may show items.
    package enum LockStatus: Hashable, Sendable {
        case unlocked, locked, beforeFirstUnlock
        /// The stored state cannot be read; with the service's explanation.
        case unreadable(String)
    }

    /// Returns the lock state; starts the service.
    package func lockStatus() throws -> LockStatus { try Self.lockStatus(of: starter) }

    private static func lockStatus(of client: AuthenticationClient) throws(Refusal) -> LockStatus {
        let device = try client.status().device
        return switch device.lock {
        case .unlocked: .unlocked
        case .locked: .locked
        case .beforeFirstUnlock: .beforeFirstUnlock
        case .unreadable: .unreadable(device.warnings.first ?? Refusal(.stateUnreadable).message)
        }
    }

    func status() throws -> DeviceStatus { try authentication.status().device }

    package func lock() throws { try authentication.lock() }

    /// Prompts the user for the passcode or a finger, wherever prompts appear.
    package func unlock(waiting: @escaping Waiting, cancellation: CallCancellation) throws {
        try authentication.unlockByPrompt(reason: "to show your keychain", waiting: waiting, cancellation: cancellation)
    }

    /// Calls `changed` on a background thread whenever the lock may have changed; with nil if the service cannot be reached. The listener
    /// runs until it is released.
    package func watchLock(_ changed: @escaping @Sendable (LockStatus?) -> Void) throws -> EnvironmentListenerHold {
        let (service, authentication) = (service, authentication)
        let listener = try EnvironmentListener(
            service: { service },
            onChange: { isReachable in
                let status = isReachable ? (try? Self.lockStatus(of: authentication)) : nil
                changed(status)
                return status != nil
            })
        try listener.start()
        return EnvironmentListenerHold(listener)
    }

    /// Returns all items of the user. The service sends them in batches, of which only the names are kept. Calls `progress` with the list
    /// so far, at growing intervals: after a thousand items, four thousand and so on.
    package func list(cancellation: CallCancellation? = nil, progress: @escaping (ItemList) -> Void = { _ in }) throws -> ItemList {
        var gathering = ItemList.Gathering()
        var next = 1000
        for kind in ItemKind.allCases {
            var query = ItemQuery(kind: kind)
            query.limit = .all
            query.returns = [.attributes, .reference]
            query.includesSynchronizable = true
            query.authenticationUI = .describe
            try forEachFound(query, cancellation: cancellation) { entry in
                guard let record = entry.record, let reference = entry.reference else { return }
                gathering.add(record, reference: reference)
                guard gathering.count >= next else { return }
                next *= 4
                progress(gathering.list())
            }
        }
        return gathering.list()
    }

    /// Returns the current page of an item; nil if it was deleted meanwhile.
    package func page(of row: ItemRow) throws -> ItemPage? {
        try record(of: row).map { ItemPage($0, row: ItemRow($0, reference: row.reference)) }
    }

    func record(of row: ItemRow) throws -> ItemRecord? {
        var query = query(for: row)
        query.returns.insert(.attributes)
        query.authenticationUI = .describe
        return try found(query).first?.record
    }

    /// Reads the secret of an item; the service prompts the user if the item requires it.
    package func secret(of row: ItemRow, for verb: String, waiting: @escaping Waiting, cancellation: CallCancellation) throws -> ItemSecret
    {
        var query = query(for: row)
        query.returns.insert(.data)
        query.operationPrompt = Self.reason(verb, row)
        guard let entry = try keychain.copyMatching(query, waiting: waiting, cancellation: cancellation).first,
            let secret = entry.takeSecret()
        else { throw Refusal(.itemNotFound, "The item has no secret") }
        return ItemSecret(secret)
    }

    /// Returns the query for one item by its reference, which stays the same when the item is renamed.
    func query(for row: ItemRow) -> ItemQuery {
        var query = ItemQuery(kind: row.kind)
        query.reference = row.reference
        query.includesSynchronizable = true
        return query
    }

    /// Returns the reason for a prompt, which is shown under the program's name.
    static func reason(_ verb: String, _ row: ItemRow) -> String {
        let name = [row.title, row.subtitle].filter { !$0.isEmpty }.joined(separator: "/")
        return "\(verb) \(name)"
    }

    func forEachFound(_ query: ItemQuery, cancellation: CallCancellation?, _ body: @escaping (ReceivedItem) -> Void) throws(Refusal) {
        do throws(Refusal) {
            try keychain.forEachMatch(of: query, cancellation: cancellation, body)
        } catch {
            guard error.reason == .itemNotFound else { throw error }
        }
    }

    func found(_ query: ItemQuery) throws(Refusal) -> [ReceivedItem] {
        do throws(Refusal) {
            return try keychain.copyMatching(query)
        } catch {
            guard error.reason == .itemNotFound else { throw error }
            return []
        }
    }
}

/// Keeps a listener running.
package final class EnvironmentListenerHold: Sendable {
    private let listener: EnvironmentListener
    init(_ listener: EnvironmentListener) { self.listener = listener }
    deinit { listener.end() }
}
