internal import VaubanAccessPolicy
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal
internal import VaubanSecretBytes

/// The keychain's records of collections: a generic password without a secret for each collection and each alias.
final class CollectionRecords: Sendable {
    static let service = "secret-service-collection"
    static let aliasService = "secret-service-alias"
    static let defaultAlias = "default"
    private static let identifierCharactersMax = 48

    struct Collection: Sendable {
        let identifier: String
        let label: String
        let created: UInt64
        let modified: UInt64
    }

    private let keychain: KeychainClient

    init(_ keychain: KeychainClient) { self.keychain = keychain }

    /// Returns the identifiers of the collections in the keychain. `login` always exists.
    func identifiers(repeats: Bool = true) throws(Refusal) -> [String] {
        let kept = try records(Self.service, nil, repeats: repeats).compactMap { ItemMapping.text($0.attributes[.account]) }
        return [KeychainItems.login] + kept.filter { $0 != KeychainItems.login }.sorted()
    }

    /// Returns all collections in the keychain, `login` first.
    func all() throws(Refusal) -> [Collection] {
        let kept = try records(Self.service, nil).compactMap(Self.collection)
        let login = kept.first { $0.identifier == KeychainItems.login }
        let others = kept.filter { $0.identifier != KeychainItems.login }.sorted { $0.identifier < $1.identifier }
        return [login ?? Self.login] + others
    }

    /// Returns a collection by its identifier, or nil if it does not exist.
    func collection(_ identifier: String) throws(Refusal) -> Collection? {
        if let record = try records(Self.service, identifier).first { return Self.collection(record) }
        return identifier == KeychainItems.login ? Self.login : nil
    }

    private static let login = Collection(identifier: KeychainItems.login, label: "Login", created: 0, modified: 0)

    private static func collection(_ record: ItemRecord) -> Collection? {
        let attributes = record.attributes
        guard let identifier = ItemMapping.text(attributes[.account]) else { return nil }
        return Collection(
            identifier: identifier, label: ItemMapping.text(attributes[.label]) ?? identifier,
            created: ItemMapping.seconds(attributes[.creationDate]), modified: ItemMapping.seconds(attributes[.modificationDate]))
    }

    /// Creates a collection with a new identifier derived from its label.
    func create(label: String) throws(Refusal) -> String {
        let plain = label.unicodeScalars.map { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)) ? Character(scalar) : "_"
        }
        let stem = plain.isEmpty ? "collection" : String(plain.prefix(Self.identifierCharactersMax))
        var number = 1
        while true {
            let identifier = number == 1 ? stem : "\(stem)_\(number)"
            number += 1
            guard identifier != KeychainItems.login, identifier != MemoryItems.collection else { continue }
            do throws(Refusal) {
                try add(Self.service, account: identifier, values: [.label: .text(label)])
                return identifier
            } catch {
                guard error.reason == .duplicateItem else { throw error }
            }
        }
    }

    func setLabel(_ label: String, of identifier: String) throws(Refusal) {
        try set(Self.service, account: identifier, values: [.label: .text(label)])
    }

    func delete(_ identifier: String) throws(Refusal) {
        // Delete the aliases first: one that remained after a failure would lead to no collection, and hide the standard target of
        // `default`.
        for record in try records(Self.aliasService, nil) where ItemMapping.text(record.attributes[.generic]) == identifier {
            try keychain.deleteIfPresent(query(Self.aliasService, ItemMapping.text(record.attributes[.account])))
        }
        try keychain.deleteIfPresent(query(Self.service, identifier))
    }

    /// Returns the collection of an alias, or nil if there is none.
    func target(ofAlias alias: String) throws(Refusal) -> String? {
        switch alias {
        case KeychainItems.login, MemoryItems.collection: return alias
        default:
            // Aliases cannot be read before the first unlock, so `default` has its standard target.
            var kept: String?
            do throws(Refusal) {
                kept = ItemMapping.text(try records(Self.aliasService, alias).first?.attributes[.generic])
            } catch {
                guard error.reason == .beforeFirstUnlock else { throw error }
            }
            return kept ?? (alias == Self.defaultAlias ? KeychainItems.login : nil)
        }
    }

    /// Returns the aliases that were set. Before the first unlock none are known.
    func aliases() throws(Refusal) -> [String] {
        do throws(Refusal) { return try records(Self.aliasService, nil).compactMap { ItemMapping.text($0.attributes[.account]) } } catch {
            guard error.reason == .beforeFirstUnlock else { throw error }
            return []
        }
    }

    /// Sets the collection of an alias, or removes the alias.
    func setAlias(_ alias: String, to identifier: String?) throws(Refusal) {
        guard let identifier else { return try keychain.deleteIfPresent(query(Self.aliasService, alias)) }
        try set(Self.aliasService, account: alias, values: [.generic: .text(identifier)])
    }

    // MARK: Requests

    private func set(_ service: String, account: String, values: [AttributeName: AttributeValue]) throws(Refusal) {
        do throws(Refusal) { try add(service, account: account, values: values) } catch {
            guard error.reason == .duplicateItem else { throw error }
            try keychain.update(query(service, account), ItemChanges(attributes: ItemAttributes(values)), secret: nil)
        }
    }

    private func add(_ service: String, account: String, values: [AttributeName: AttributeValue]) throws(Refusal) {
        let attributes = ItemAttributes([.service: .text(service), .account: .text(account)].merging(values) { $1 })
        // The record stays readable while the keychain is locked, since clients list collections then.
        _ = try keychain.add(
            ItemRecord(kind: .genericPassword, attributes: attributes, protection: .afterFirstUnlock), secret: SecretBytes(copying: []))
    }

    private func query(_ service: String, _ account: String?) -> ItemQuery {
        var attributes = ItemAttributes([.service: .text(service), .secretServiceAttributes: .data([])])
        if let account { attributes[.account] = .text(account) }
        return ItemQuery(kind: .genericPassword, attributes: attributes)
    }

    private func records(_ service: String, _ account: String?, repeats: Bool = true) throws(Refusal) -> [ItemRecord] {
        var query = query(service, account)
        query.limit = .all
        query.authenticationUI = .describe
        query.returns.insert(.attributes)
        do throws(Refusal) { return try keychain.search(query, repeats: repeats).compactMap(\.record) } catch {
            guard error.reason == .itemNotFound else { throw error }
            return []
        }
    }
}
