// SecItemAdd of an identity, which is two items: one may already exist, unless both do (Specs/secitem.md, 2.6).

internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal
internal import VaubanSecretBytes

struct IdentityAdding {
    let identity: SecIdentity
    let parsed: ItemDictionary
    private let client: KeychainClient

    init(_ identity: SecIdentity, _ parsed: ItemDictionary) throws {
        self.identity = identity
        self.parsed = parsed
        client = try KeychainConnections.client()
    }

    /// Adds both, and returns what the return keys request, built from the added items: searching for them afterwards could prompt the
    /// user.
    func run() throws -> AnyObject? {
        // Builds both records before storing the first.
        let records = try (certificate: parsed.record(of: .certificate(identity.certificate)), key: parsed.record(of: .key(identity.key)))
        let certificate = try add(.certificate(identity.certificate), records.certificate)
        let key = try add(.key(identity.key), records.key)
        guard certificate != nil || key != nil else { throw Refusal(.duplicateItem) }
        guard !parsed.returns.isEmpty else { return nil }
        var record = key?.record ?? records.key
        record.kind = .identity
        record.attributes = record.attributes.merging((certificate?.record ?? records.certificate).attributes)
        var reference = certificate?.reference
        if reference == nil, parsed.returns.contains(.persistentRef) { reference = try self.reference(of: records.certificate) }
        return ItemResult(record, .identity(identity), value: identity.key.external, reference: reference).shaped(parsed.returns)
    }

    /// Returns nil if the item already exists.
    private func add(_ part: ItemObject, _ record: ItemRecord) throws(Refusal) -> ReceivedItem? {
        do throws(Refusal) {
            return try client.add(
                record, secret: part.secret, password: parsed.passwordBytes, returns: [.attributes, .reference],
                applications: parsed.applications)
        } catch {
            guard error.reason == .duplicateItem else { throw error }
            return nil
        }
    }

    /// Returns the reference of an existing certificate, and nothing else about it, so that no prompt is needed.
    private func reference(of certificate: ItemRecord) throws(Refusal) -> [UInt8]? {
        let named = certificate.attributes.filter { AttributeRule.rule(for: $0.name, of: .certificate)?.isPrimary ?? false }
        var query = ItemQuery(kind: .certificate, attributes: named)
        query.returns.insert(.reference)
        query.authenticationUI = .describe
        return try client.copyMatching(query).first?.reference
    }
}
