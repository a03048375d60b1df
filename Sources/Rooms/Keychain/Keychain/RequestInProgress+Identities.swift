// Identities are not stored: an identity is a certificate and the private key that it names (Specs/item-attributes.md, Specs/secitem.md,
// 2.6).

internal import EnclaveWire
internal import KeychainStore
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal
internal import VaubanSecretBytes

/// The two searches that make up a search for identities.
struct IdentityTerms {
    let certificate: SearchTerms
    let key: SearchTerms

    /// Splits a query. Attributes that both classes have go to the key, except those that describe a certificate.
    init(_ query: ItemQuery, for rights: CallerRights) throws {
        var sides: (certificate: ItemAttributes, key: ItemAttributes) = (ItemAttributes(), ItemAttributes())
        for (name, value) in query.attributes {
            let ofKey = AttributeRule.rule(for: name, of: .key) != nil
            let ofCertificate = AttributeRule.rule(for: name, of: .certificate) != nil
            // The group and synchronizability apply to both.
            if [.accessGroup, .synchronizable].contains(name) {
                sides.certificate[name] = value
                sides.key[name] = value
            } else if ofCertificate, !ofKey || Self.ofCertificate.contains(name) {
                sides.certificate[name] = value
            } else {
                sides.key[name] = value
            }
        }
        var (certificate, key) = (query, query)
        (certificate.kind, certificate.attributes) = (.certificate, sides.certificate)
        (key.kind, key.attributes, key.reference) = (.key, sides.key, nil)
        self.certificate = try QueryGrammar.terms(of: certificate, for: rights)
        self.key = try QueryGrammar.terms(of: key, for: rights)
    }

    private static let ofCertificate: Set<AttributeName> = [.label, .issuer, .serialNumber, .subjectKeyID, .tokenID]

    /// Returns the terms for the keys that a certificate names.
    func keys(of certificate: ItemRecord) -> SearchTerms? {
        guard let hash = certificate.attributes[.publicKeyHash], !hash.isEmpty else { return nil }
        var attributes = key.attributes
        guard attributes[.applicationLabel].map({ $0.hasEqualBytes(as: hash) }) ?? true else { return nil }
        attributes[.applicationLabel] = hash
        guard attributes[.keyClass].map({ $0 == .number(1) }) ?? true else { return nil }
        attributes[.keyClass] = .number(1)
        return SearchTerms(kind: .key, attributes: attributes, protection: key.protection)
    }
}

extension RequestInProgress {
    /// Searches identities (SecItemCopyMatching). The user is prompted for the key in the same way as for any protected item.
    func copyIdentities(_ query: ItemQuery) throws {
        let rights = try rights(mayPrompt: query.authenticationUI == .allow)
        let terms = try IdentityTerms(query, for: rights)
        let wanted = query.limit.countMax
        let replies = ReplyBatch(sink, returning: query.returns)
        var found = 0
        let isBeforeFirstUnlock = try forEachOwnRow(of: terms.certificate, rights) { certificate in
            guard let keys = terms.keys(of: certificate.record) else { return true }
            try forEachOwnRow(of: keys, rights) { key in
                if try addReply(certificate: certificate, key: key, for: query, to: replies) { found += 1 }
                return found < wanted
            }
            return found < wanted
        }
        guard found > 0 else { throw Refusal(isBeforeFirstUnlock ? .beforeFirstUnlock : .itemNotFound) }
        try replies.finish()
    }

    private func addReply(certificate: OpenedRow, key: OpenedRow, for query: ItemQuery, to replies: ReplyBatch) throws -> Bool {
        var record = key.record
        record.kind = .identity
        record.attributes = record.attributes.merging(certificate.record.attributes)
        let item = certificate.binding.item
        var der: [UInt8]?
        if query.returns.contains(.data) {
            guard let value = try openValue(of: certificate, reason: query.operationPrompt, mayPrompt: query.authenticationUI == .allow)
            else {
                return false
            }
            let bytes = value.value().withUnsafeBytes { Array($0) }
            guard (1...FoundItem.certificateBytesMax).contains(bytes.count) else { return false }
            der = bytes
            note(.read, certificate)
        }
        guard !isLeftOut(key, for: query) else { return false }
        guard mustUnwrap(key, for: query) else {
            try replies.add(record, of: item, certificate: der)
            return true
        }
        let mayPrompt = query.authenticationUI == .allow
        guard let value = try openValue(of: key, reason: query.operationPrompt, mayPrompt: mayPrompt) else { return false }
        if query.returns.contains(.data) { note(.read, key) }
        try replies.add(record, of: item, certificate: der, value: value)
        return true
    }

    /// Deletes identities (SecItemDelete). Without a reference, deletes all certificates and keys that match the attributes. With one,
    /// deletes that certificate, and its key unless another certificate names the key too.
    func deleteIdentities(_ query: ItemQuery, _ rights: CallerRights) throws {
        try withRetries {
            let handles = try query.reference == nil ? handlesOfSides(query, rights) : handlesOfReferenced(query, rights)
            guard !handles.isEmpty else { throw Refusal(.itemNotFound) }
            let removals =
                try handles.map { removal(of: $0, atOnce: true) } + permissionRows(of: handles).map { RowRemoval($0, isLocal: true) }
            return try withLogRecords(of: .deleted, used(handles)) { try database.delete(removals, appending: $0) }
        }
        try sink.send(.done)
    }

    private func handlesOfSides(_ query: ItemQuery, _ rights: CallerRights) throws -> [RowHandle] {
        guard rights.ownsEverything || !rights.groups.isEmpty else { return [] }
        return try QueryGrammar.sides(of: query).flatMap { side in
            let terms = try QueryGrammar.termsToChange(of: side, for: rights)
            let selection = try selection(terms, of: rights.groups)
            guard !selection.usesDeviceIndex else { throw Refusal(.beforeFirstUnlock) }
            return try handles(of: selection, terms)
        }
    }

    private func handlesOfReferenced(_ query: ItemQuery, _ rights: CallerRights) throws -> [RowHandle] {
        let terms = try IdentityTerms(query, for: rights)
        var found: [RowHandle] = []
        let isBeforeFirstUnlock = try forEachOwnRow(of: terms.certificate, rights) { certificate in
            guard let keys = terms.keys(of: certificate.record) else { return true }
            found.append(certificate.row.handle)
            let siblings = SearchTerms(
                kind: .certificate, attributes: ItemAttributes([.publicKeyHash: keys.attributes[.applicationLabel] ?? .data([])]),
                protection: nil)
            var isAlone = true
            try forEachOwnRow(of: siblings, rights) { other in
                if other.binding.item != certificate.binding.item { isAlone = false }
                return isAlone
            }
            guard isAlone else { return true }
            try forEachOwnRow(of: keys, rights) { key in
                found.append(key.row.handle)
                return true
            }
            return true
        }
        guard !isBeforeFirstUnlock else { throw Refusal(.beforeFirstUnlock) }
        return found
    }

    /// Calls `body` with the caller's rows of one class that match the terms. Returns true before the first unlock, when some rows are not
    /// visible.
    @discardableResult
    private func forEachOwnRow(of terms: SearchTerms, _ rights: CallerRights, _ body: (OpenedRow) throws -> Bool) throws -> Bool {
        guard rights.ownsEverything || !rights.groups.isEmpty else { return false }
        let selection = try selection(terms, of: rights.groups)
        try forEachRow(of: selection, batch: KeychainLimits.batchRowsMax) { row in
            guard let opened = try open(row), rights.owns(opened.record.accessGroup), terms.match(opened.record.attributes) else {
                return true
            }
            return try body(opened)
        }
        return selection.usesDeviceIndex
    }
}
