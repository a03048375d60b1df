internal import Synchronization
internal import VaubanAccessPolicy
internal import VaubanAuthenticationClient
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanUserModel

/// The items that a sandboxed application may use: those that it stored, and those that the user allowed it to use. Each permission is a
/// generic password without a secret.
final class ItemAccess: Sendable {
    static let service = "secret-service-permission"
    /// The number of labels in one prompt; the others are only counted.
    private static let labelsMax = 3

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
        do throws(Refusal) { return try !keychain.search(query(name, identifier)).isEmpty } catch {
            guard error.reason == .itemNotFound else { throw error }
            return false
        }
    }

    /// Returns the applications that the user allowed to use an item.
    func applications(permitted identifier: String) throws(Refusal) -> Set<String> {
        var query = permissions(for: identifier)
        query.limit = .all
        query.returns.insert(.attributes)
        query.authenticationUI = .describe
        do throws(Refusal) {
            let accounts = try keychain.search(query).compactMap { ItemMapping.text($0.record?.attributes[.account]) }
            return Set(accounts.filter { $0.hasSuffix(" \(identifier)") }.map { String($0.dropLast(identifier.count + 1)) })
        } catch {
            guard error.reason == .itemNotFound else { throw error }
            return []
        }
    }

    /// Prompts the user to allow an application to use items of other owners, and stores the permission. Throws unless the user consents.
    func askConsent(
        for items: [(identifier: String, label: String)], to client: BusClient, _ cancellation: CallCancellation
    ) throws(Refusal) {
        let labels = items.prefix(Self.labelsMax).map(\.label).joined(separator: ", ")
        let more = items.count > Self.labelsMax ? " and \(items.count - Self.labelsMax) more" : ""
        let reason = "to let \(client.application.words) use, from now on, what other programs stored: \(labels)\(more)"
        try authentication.evaluate(.biometryOrPasscode, reason: reason, cancellation: cancellation)
        for item in items {
            guard case .sandboxed(let name) = client.application else {
                client.permit(item.identifier)
                continue
            }
            let attributes = ItemAttributes([
                .service: .text(Self.service), .account: .text("\(name) \(item.identifier)"), .generic: .text(item.identifier),
                .label: .text("\(name) may use \(item.label)"),
            ])
            do throws(Refusal) {
                _ = try keychain.add(ItemRecord(kind: .genericPassword, attributes: attributes), secret: SecretBytes(copying: []))
            } catch {
                guard error.reason == .duplicateItem else { throw error }
            }
        }
    }

    /// Ends the permissions for an item whose attributes changed or that was deleted: the user consented to its previous state.
    func endPermissions(for identifier: String) throws(Refusal) {
        try keychain.deleteIfPresent(permissions(for: identifier))
    }

    /// Returns the query for all permissions for an item.
    private func permissions(for identifier: String) -> ItemQuery {
        ItemQuery(
            kind: .genericPassword,
            attributes: ItemAttributes([
                .service: .text(Self.service), .generic: .text(identifier), .secretServiceAttributes: .data([]),
            ]))
    }

    private func query(_ name: String, _ identifier: String) -> ItemQuery {
        var query = ItemQuery(
            kind: .genericPassword,
            attributes: ItemAttributes([
                .service: .text(Self.service), .account: .text("\(name) \(identifier)"), .secretServiceAttributes: .data([]),
            ]))
        query.returns.insert(.reference)
        query.authenticationUI = .describe
        return query
    }
}
