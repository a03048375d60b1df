internal import VaubanAccessPolicy
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal
internal import VaubanSecretBytes

/// The folders that programs created. Since a folder can exist without an entry, each is stored as a generic password without a secret.
final class WalletFolders: Sendable {
    static let service = "kwallet-folder"
    /// The folders that each wallet has.
    static let standard = ["Form Data", "Passwords"]

    private let keychain: KeychainClient

    init(_ keychain: KeychainClient) { self.keychain = keychain }

    func names(in collection: String) throws(Refusal) -> [String] {
        var query = query(collection, nil)
        query.limit = .all
        query.authenticationUI = .describe
        query.returns.insert(.attributes)
        do throws(Refusal) {
            return try keychain.search(query).compactMap { Self.name(ItemMapping.text($0.record?.attributes[.account])) }
        } catch {
            guard error.reason == .itemNotFound else { throw error }
            return []
        }
    }

    func contain(_ name: String, in collection: String) throws(Refusal) -> Bool {
        var query = query(collection, name)
        query.authenticationUI = .describe
        query.returns.insert(.reference)
        do throws(Refusal) { return try !keychain.search(query).isEmpty } catch {
            guard error.reason == .itemNotFound else { throw error }
            return false
        }
    }

    func create(_ name: String, in collection: String) throws(Refusal) {
        do throws(Refusal) { _ = try keychain.add(Self.record(name, in: collection), secret: SecretBytes(copying: [])) } catch {
            guard error.reason == .duplicateItem else { throw error }
        }
    }

    static func record(_ name: String, in collection: String) -> ItemRecord {
        let attributes = ItemAttributes([
            .service: .text(service), .account: .text("\(collection)/\(name)"), .generic: .text(collection), .label: .text(name),
        ])
        // Names of folders stay readable while the keychain is locked, like those of collections.
        return ItemRecord(kind: .genericPassword, attributes: attributes, protection: .afterFirstUnlock)
    }

    func delete(_ name: String, in collection: String) throws(Refusal) { try keychain.deleteIfPresent(query(collection, name)) }

    func deleteAll(in collection: String) throws(Refusal) { try keychain.deleteIfPresent(query(collection, nil)) }

    /// Returns the folder's name after the first slash. A collection's identifier contains no slash, but a folder's name may.
    private static func name(_ account: String?) -> String? {
        guard let scalars = account?.unicodeScalars, let slash = scalars.firstIndex(of: "/") else { return nil }
        return String(scalars[scalars.index(after: slash)...])
    }

    private func query(_ collection: String, _ name: String?) -> ItemQuery {
        var attributes = ItemAttributes([
            .service: .text(Self.service), .generic: .text(collection), .secretServiceAttributes: .data([]),
        ])
        if let name { attributes[.account] = .text("\(collection)/\(name)") }
        return ItemQuery(kind: .genericPassword, attributes: attributes)
    }
}
