import VaubanAccessPolicy
import VaubanJSON
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// The registry logins among the user's items: internet passwords in the security domain `docker`, whose server is the registry exactly as
/// docker spells it. The domain separates them from the passwords of git and browsers for the same host.
struct DockerCredentialStore {
    private let client: ServiceClient
    private static let domain = "docker"

    init(_ client: ServiceClient) { self.client = client }

    /// Writes the login to a registry to standard output.
    func get(_ registry: String) throws {
        let found = try matches(registry)
        guard let record = found.first else { throw Refusal(.itemNotFound) }
        guard found.count == 1 else {
            throw Refusal(
                .badParameter, "Several accounts are stored for \(SafeText.line(registry, max: 150)); log out, and log in again")
        }
        let reason = "log in to \(SafeText.line(registry, max: 150)) with docker or podman"
        guard let secret = try client.read(record, reason: reason).takeSecret() else { throw Refusal(.itemNotFound) }
        let answer = SecretJSON()
        answer.add("ServerURL", registry)
        answer.add("Username", record.text(.account))
        try answer.add("Secret", secret: secret)
        try answer.write()
    }

    /// Stores a login and replaces the registry's existing one. An item of the same account keeps its protection.
    func store(_ login: DockerLogin) throws {
        let found = try matches(login.registry)
        if let record = found.first(where: { $0.text(.account) == login.account }) {
            let changes = ItemChanges(attributes: ItemAttributes(), hasData: true)
            try client.update(
                record, changes, secret: login.secret.secret.duplicate(), reason: "store a new login to \(record.text(.server))")
        } else {
            var attributes = Self.attributes(of: login.registry)
            attributes[.account] = .text(login.account)
            attributes[.securityDomain] = .text(Self.domain)
            attributes[.port] = .number(0)
            attributes[.path] = .text("")
            attributes[.label] = .text(login.registry)
            try client.add(ItemRecord(kind: .internetPassword, attributes: attributes), secret: login.secret.secret.duplicate())
        }
        for record in found where record.text(.account) != login.account { try delete(record) }
    }

    /// Deletes the login to a registry; `vauban undelete` restores it for thirty days.
    func erase(_ registry: String) throws {
        let found = try matches(registry)
        guard !found.isEmpty else { throw Refusal(.itemNotFound) }
        for record in found { try delete(record) }
    }

    /// Writes an object with each registry and its account to standard output.
    func list() throws {
        let answer = SecretJSON()
        var listed: Set<String> = []
        for record in try matches(nil) where listed.insert(record.text(.server)).inserted {
            answer.add(record.text(.server), record.text(.account))
        }
        try answer.write()
    }

    private func delete(_ record: ItemRecord) throws {
        let query = try client.query(for: record)
        try client.withUnlock { try client.keychain.delete(query) }
    }

    /// Returns the logins to a registry, or to all registries.
    private func matches(_ registry: String?) throws -> [ItemRecord] {
        var query = ItemQuery(kind: .internetPassword, attributes: Self.attributes(of: registry))
        query.limit = .all
        query.returns.insert(.attributes)
        query.authenticationUI = .describe
        query.includesSynchronizable = true
        let wanted = query
        return try client.withUnlock { try client.found(wanted).compactMap(\.record) }.filter(Self.isLogin)
    }

    private static func isLogin(_ record: ItemRecord) -> Bool {
        switch record.attributes[.securityDomain] {
        case .text(let text): text == domain
        case .data(let bytes): bytes == Array(domain.utf8)
        default: false
        }
    }

    private static func attributes(of registry: String?) -> ItemAttributes {
        var attributes = ItemAttributes([.accessGroup: .text(AccessGroup.commandLine)])
        if let registry { attributes[.server] = .text(registry) }
        return attributes
    }
}
