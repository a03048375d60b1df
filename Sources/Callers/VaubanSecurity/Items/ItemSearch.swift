// Runs SecItemCopyMatching for a parsed dictionary: keychaind searches, and conditions on certificates and server names are checked here
// (Specs/secitem.md, 5.1).

internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal

struct ItemSearch {
    private let parsed: ItemDictionary
    private let request: ItemQuery
    private let client: KeychainClient
    private let issuers: CertificatesInKeychain

    init(_ parsed: ItemDictionary) throws {
        self.parsed = parsed
        request = try parsed.query()
        client = try KeychainConnections.client()
        issuers = CertificatesInKeychain(client)
    }

    /// Returns the matches, at least one.
    func found() throws -> [ItemResult] {
        guard !parsed.filter.isEmpty else { return try results(of: request) }
        let found = request.kind == .identity && parsed.filter.needsCertificate ? try identities() : try results(of: request).filter(fits)
        if found.isEmpty { throw Refusal(.itemNotFound) }
        return Array(found.prefix(countMax))
    }

    private var countMax: Int { parsed.limit?.countMax ?? 1 }

    private func fits(_ found: ItemResult) -> Bool {
        parsed.filter.matches(found.record, found.certificate, issuers: issuers.ofSubject)
    }

    /// Omits items whose value does not match their class; throws if that is true of all of them.
    private func results(of query: ItemQuery) throws -> [ItemResult] {
        let makesObject = query.kind == request.kind ? parsed.needsObject(kind: query.kind) : true
        let entries = try parsed.perform { (waiting, cancellation) throws(Refusal) in
            try client.copyMatching(query, password: parsed.passwordBytes, waiting: waiting, cancellation: cancellation)
        }
        let found = entries.compactMap { ItemResult($0, kind: query.kind, makesObject: makesObject, keys: parsed.keyContext) }
        // Without return keys there are no entries.
        if found.isEmpty, !entries.isEmpty { throw StatusError.notACertificate }
        return found
    }

    /// Checks certificates first, so that only the private keys of matching identities are opened and prompted for.
    private func identities() throws -> [ItemResult] {
        var search = request
        search.kind = .certificate
        search.attributes = try Self.ofCertificate(request.attributes)
        search.returns.formUnion([.data, .reference])
        search.authenticationUI = .skip
        var found: [ItemResult] = []
        for certificate in try results(of: search) where found.count < countMax && fits(certificate) {
            var one = request
            one.reference = certificate.reference
            do { found += try results(of: one) } catch let refusal as Refusal where refusal.reason == .itemNotFound {}
        }
        return found
    }

    /// Returns the attributes that an identity's certificate must have; those that only keys have are checked when the key is looked up.
    private static func ofCertificate(_ attributes: ItemAttributes) throws(Refusal) -> ItemAttributes {
        var own = ItemAttributes()
        for (name, value) in attributes {
            let isOfKey = AttributeRule.rule(for: name, of: .key) != nil
            let isOfCertificate = AttributeRule.rule(for: name, of: .certificate) != nil
            guard isOfKey || isOfCertificate else { throw Refusal(.noSuchAttribute, "identities have no such attribute") }
            if isOfCertificate, !isOfKey || [.label, .tokenID, .accessGroup, .synchronizable].contains(name) { own[name] = value }
        }
        return own
    }
}

/// The certificates of the keychain by subject, for following issuers. Looks up each name once per search.
private final class CertificatesInKeychain {
    private let client: KeychainClient
    private var known: [[UInt8]: [SecCertificate]] = [:]

    init(_ client: KeychainClient) { self.client = client }

    /// Returns the possible issuers of this certificate, without a prompt.
    func ofSubject(_ certificate: SecCertificate) -> [SecCertificate] {
        if let found = known[certificate.normalizedIssuer] { return found }
        var query = ItemQuery(kind: .certificate, attributes: ItemAttributes([.subject: .data(certificate.normalizedIssuer)]))
        query.limit = .all
        query.returns.insert(.data)
        query.authenticationUI = .skip
        let entries = (try? client.copyMatching(query)) ?? []
        let found = entries.compactMap { ItemResult($0, kind: .certificate, makesObject: true)?.certificate }
        known[certificate.normalizedIssuer] = found
        return found
    }
}
