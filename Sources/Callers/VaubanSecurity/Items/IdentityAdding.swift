// SecItemAdd of an identity, which is two items: one that is there already is no fault, unless both are (Specs/secitem.md, 2.6).

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
        client = try Keychain.client()
    }

    /// Adds both, and gives what the return keys ask for, made of what was added: to look for it afterwards could ask the user.
    func run() throws -> AnyObject? {
        // Both are read before the first is written.
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

    /// Nil where it is there already.
    private func add(_ part: ItemObject, _ record: ItemRecord) throws(Refusal) -> FoundEntry? {
        do throws(Refusal) {
            return try client.add(
                record, secret: part.secret, password: parsed.passwordBytes, returns: [.attributes, .reference],
                applications: parsed.applications)
        } catch {
            guard error.reason == .duplicateItem else { throw error }
            return nil
        }
    }

    /// Of a certificate that was there before. Nothing else is told of it, so nobody is asked.
    private func reference(of certificate: ItemRecord) throws(Refusal) -> [UInt8]? {
        let named = certificate.attributes.values.filter { AttributeRule.rule(for: $0.key, of: .certificate)?.isPrimary ?? false }
        var query = ItemQuery(kind: .certificate, attributes: ItemAttributes(named))
        query.returnsReference = true
        query.authenticationUI = .describe
        return try client.copyMatching(query).first?.reference
    }
}
