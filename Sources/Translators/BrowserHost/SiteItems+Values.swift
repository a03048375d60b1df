internal import VaubanAccessPolicy
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanSecretText

extension SiteItems {
    /// Reads the value of an item; the service prompts the user if the item demands it.
    func secret(of item: SiteItem, reason: String, waiting: @escaping KeychainClient.Waiting) throws(Refusal) -> SecretBytes {
        var query = query(for: item)
        query.returns.insert(.data)
        query.operationPrompt = reason
        guard let secret = try keychain.copyMatching(query, waiting: waiting).first?.takeSecret() else {
            throw Refusal(.itemNotFound, "The item has no password")
        }
        return secret
    }

    /// Adds a password for the page, and returns how `vauban` selects it.
    func save(account: String, _ secret: SecretBox) throws(Refusal) -> ItemOptions {
        var attributes = ItemAttributes([
            .server: .text(site.origin.host), .protocolName: .text("htps"), .account: .text(account), .label: .text(site.origin.words),
            .accessGroup: .text(AccessGroup.commandLine),
        ])
        if site.origin.port != WebOrigin.portDefault { attributes[.port] = .number(site.origin.port) }
        let record = ItemRecord(kind: .internetPassword, attributes: attributes)
        _ = try keychain.add(record, secret: secret.secret.duplicate())
        return ItemOptions(record)
    }

    /// Replaces the password of an item, and returns whether the previous one is kept as an earlier value. If it would not be kept,
    /// replaces it only if `mayLose` says that the user accepts that.
    func replace(
        _ item: SiteItem, _ secret: SecretBox, mayLose: Bool, reason: String, waiting: @escaping KeychainClient.Waiting
    ) throws(Refusal) -> Bool {
        let keepsHistory = try keychain.keepsHistory()
        guard keepsHistory || mayLose else {
            throw Refusal(
                .notAllowedHere,
                "Your keychain keeps no earlier passwords, so the present one would be lost; to keep it: vauban settings --history on")
        }
        var query = query(for: item)
        query.operationPrompt = reason
        let changes = ItemChanges(attributes: ItemAttributes(), hasData: true)
        try keychain.update(query, changes, secret: secret.secret.duplicate(), waiting: waiting)
        return keepsHistory
    }

    func query(for item: SiteItem) -> ItemQuery {
        var query = ItemQuery(kind: item.record.kind)
        query.reference = item.reference
        query.includesSynchronizable = true
        return query
    }
}
