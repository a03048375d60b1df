import Glibc
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes

/// The answers to git's credential requests. An empty reply means that there is no credential, and git then prompts the user itself.
struct GitCredentialStore {
    private let client: ServiceClient
    private let place: GitPlace

    init(_ client: ServiceClient, _ place: GitPlace) {
        self.client = client
        self.place = place
    }

    /// Prints the account and password of the one matching item.
    func get(account: String?) throws {
        let found = try matches(account: account)
        guard let record = found.first else { return }
        guard found.count == 1 else { return reportAmbiguity() }
        guard let secret = try client.read(record, reason: "log in to \(place.shown) with git").takeSecret() else { return }
        // The reply consists of lines, so a line end within a value would change its meaning.
        let name = record.text(.account)
        guard Self.isOneLine(name), secret.withUnsafeBytes({ bytes in !bytes.contains { [0x00, 0x0A, 0x0D].contains($0) } }) else {
            throw Refusal(.badParameter, "The account or password contains a line break or zero byte, which git cannot read")
        }
        let written =
            writeText("username=\(name)\npassword=", to: STDOUT_FILENO) && secret.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) }
            && writeText("\n", to: STDOUT_FILENO)
        guard written else { throw Refusal(.unavailable, "The password could not be written to git") }
    }

    /// Stores a password that worked. Git calls this after each success, even if the password came from here. An item that requires a
    /// prompt is therefore left unchanged: comparing it would prompt the user again at each push.
    func store(account: String, password: borrowing SecretBytes) throws {
        let found = try matches(account: account).filter { $0.text(.account) == account }
        guard let record = found.first else { return try add(account, password) }
        if found.count > 1 { return reportAmbiguity() }
        if record.needsApproval { return }
        if let kept = try client.read(record, reason: "compare").takeSecret(), kept.equals(password) { return }
        let changes = ItemChanges(attributes: ItemAttributes(), hasData: true)
        try client.update(record, changes, secret: password.duplicate(), reason: "update")
    }

    private func add(_ account: String, _ password: borrowing SecretBytes) throws {
        var attributes = place.attributes
        attributes[.account] = .text(account)
        attributes[.port] = .number(place.port)
        attributes[.path] = .text(place.path)
        attributes[.label] = .text(place.server)
        try client.add(ItemRecord(kind: .internetPassword, attributes: attributes), secret: password.duplicate())
    }

    /// Deletes a password that did not work: only the one that git tried, and nothing if the match is ambiguous.
    func erase(account: String?, password: borrowing SecretBytes?) throws {
        var found = try matches(account: account)
        if let record = found.first(where: \.needsApproval) {
            say("vauban: \(place.shown) needs your approval, so git does not delete it; to change it: vauban update \(record.options)")
            found.removeAll(where: \.needsApproval)
        }
        switch password {
        case .some(let tried):
            for record in found {
                guard let kept = try client.read(record, reason: "compare").takeSecret(), kept.equals(tried) else { continue }
                try delete(record)
            }
        case .none:
            guard found.count <= 1 else { return reportAmbiguity() }
            for record in found { try delete(record) }
        }
    }

    private func delete(_ record: ItemRecord) throws {
        let query = try client.query(for: record)
        try client.withUnlock { try client.keychain.delete(query) }
    }

    private func matches(account: String?) throws -> [ItemRecord] {
        var query = ItemQuery(kind: .internetPassword, attributes: place.attributes)
        if let account, !account.isEmpty { query.attributes[.account] = .text(account) }
        query.limit = .all
        query.returns.insert(.attributes)
        query.authenticationUI = .describe
        query.includesSynchronizable = true
        let wanted = query
        return try client.withUnlock { try client.found(wanted).compactMap(\.record) }
            .filter { place.means($0) && (account != "" || $0.text(.account).isEmpty) }
    }

    private func reportAmbiguity() {
        say("vauban: \(place.shown) has more than one account; to choose one: git config credential.\(place.shown).username NAME")
    }

    private static func isOneLine(_ text: String) -> Bool { !text.utf8.contains { [0x00, 0x0A, 0x0D].contains($0) } }
}
