// The subject of a parsed dictionary as a whole: the item that an add describes, a search, or changes.

internal import VaubanAccessPolicy
internal import VaubanKeyWire
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal

extension ItemDictionary {
    /// Returns the item that an add describes.
    func record() throws -> ItemRecord {
        let kind = try requiredKind()
        guard kind != .identity else { throw Refusal(.badParameter, "An identity can only be added with kSecValueRef") }
        // A certificate must be parseable if it is returned as an object.
        if kind == .certificate, value != nil || returns.contains(.ref) { try Self.checkCertificate(value) }
        return try record(kind, attributes)
    }

    /// Returns one of the two items of an identity.
    func record(of part: ItemObject) throws -> ItemRecord {
        var own = part.attributes(forQuery: false)
        for name in [AttributeName.accessGroup, .label, .synchronizable] { if let value = attributes[name] { own[name] = value } }
        return try record(part.kind, own)
    }

    /// Returns the record of an item. Without an accessibility or an access control, it is readable when unlocked (C-052).
    private func record(_ kind: ItemKind, _ attributes: ItemAttributes) throws -> ItemRecord {
        let control = try resolvedControl()
        if case .key(let key)? = object, let own = key.material?.enclaveKey?.control {
            return try record(own, named: control, attributes: attributes)
        }
        guard attributes[.tokenID] == nil || kind != .key else {
            throw Refusal(.badParameter, "Only a private key of the enclave can have its token")
        }
        guard control == nil || applications.isEmpty else {
            throw Refusal(.badParameter, "kSecAttrAccess and kSecAttrAccessControl exclude each other")
        }
        // A certificate is not secret: it must be readable while the keychain is locked.
        let standard: ProtectionClass = kind == .certificate ? .always : .whenUnlocked
        return ItemRecord(
            kind: kind, attributes: attributes, protection: protection ?? accessControl?.protection ?? standard, accessControl: control)
    }

    /// A private key of the enclave is stored in the class for which it was created. The enclave enforces its access control, which the
    /// record only repeats.
    private func record(_ own: AccessControl, named: AccessControl?, attributes: ItemAttributes) throws -> ItemRecord {
        guard named.map({ $0 == own }) ?? true, protection.map({ $0 == own.protection }) ?? true, applications.isEmpty else {
            throw Refusal(.badParameter, "The key was created with another access control")
        }
        return ItemRecord(kind: .key, attributes: attributes, protection: own.protection)
    }

    private static func checkCertificate(_ value: Data?) throws(StatusError) {
        guard let value, SecCertificate(der: [UInt8](value)) != nil else { throw StatusError.notACertificate }
    }

    func query() throws -> ItemQuery {
        var query = ItemQuery(kind: try requiredKind(), attributes: attributes)
        _ = try resolvedControl()
        query.protection = protection
        query.includesSynchronizable = includesSynchronizable
        // With a filter, the limit applies after filtering.
        query.limit = filter.isEmpty ? limit ?? .one : .all
        query.reference = reference?.item
        query.returns = wireReturns(of: query.kind, makesObject: needsObject(kind: query.kind))
        if !filter.isEmpty { query.returns.insert(.attributes) }
        // A context that forbids prompts forbids them whatever the dictionary allows.
        query.authenticationUI = namedUI == .allow && context?.interactionNotAllowed == true ? .fail : namedUI
        query.operationPrompt = operationPrompt
        query.authorization = context?.authorization
        return query
    }

    /// What the dictionary says about prompts: `kSecUseNoAuthenticationUI` counts only without `kSecUseAuthenticationUI`.
    var namedUI: AuthenticationUI { authenticationUI ?? (suppressesUI ? .fail : .allow) }

    func changes(of kind: ItemKind) throws -> ItemChanges {
        if kind == .certificate, value != nil { try Self.checkCertificate(value) }
        return ItemChanges(
            attributes: attributes, protection: protection ?? accessControl?.protection, accessControl: try resolvedControl(),
            hasData: value != nil)
    }

    /// Returns whether to build objects, which passwords do not have. A filter needs the parsed certificate.
    func needsObject(kind: ItemKind) -> Bool {
        switch kind {
        case .certificate: returns.contains(.ref) || filter.needsCertificate
        case .key, .identity: returns.contains(.ref)
        case .genericPassword, .internetPassword, .permission: false
        }
    }

    /// Returns whether the attributes decide if the value can be returned.
    static func mayBeOfEnclave(_ kind: ItemKind?) -> Bool { kind == .key || kind == .identity }

    private func requiredKind() throws -> ItemKind {
        guard let kind else { throw Refusal(.badParameter, "kSecClass is missing") }
        return kind
    }

    /// Accessibility and access control exclude each other, except for the pair that a search returns for a plain item, so that results can
    /// be used as queries (Specs/secitem.md, 5).
    private func resolvedControl() throws -> AccessControl? {
        guard let accessControl else { return nil }
        if let protection {
            guard accessControl.control == nil, accessControl.protection == protection else {
                throw Refusal(.badParameter, "kSecAttrAccessible and kSecAttrAccessControl exclude each other")
            }
        }
        return accessControl.control
    }
}
