// The grammar of a SecItem dictionary (Specs/secitem.md, 5): the shape of a key says what it is, and every key is either
// understood or refused.

internal import VaubanAccessPolicy
internal import VaubanKeyWire
internal import VaubanKeychainModel
internal import VaubanKeychainWire
package import VaubanLinuxHost
internal import VaubanRefusal

/// One dictionary, read but not yet judged as a whole.
struct ItemDictionary {
    enum Role { case add, copyMatching, update, delete, changes }

    private let role: Role
    private(set) var kind: ItemKind?
    private(set) var attributes = ItemAttributes()
    private(set) var value: Data?
    private(set) var returns: ItemReturns = []
    /// The item that a persistent reference names.
    private(set) var reference: PersistentReference?
    /// The object that the item is, or is to be.
    private(set) var object: ItemObject?
    private(set) var filter = MatchFilter()
    private var matchKeys: [(name: String, value: AnyObject)] = []
    private var protection: Protection?
    private var accessControl: SecAccessControl?
    /// Who else may read an item that is added (`kSecAttrAccess`).
    private(set) var applications: [String] = []
    private var includesSynchronizable = false
    private(set) var limit: MatchLimit?
    private(set) var authenticationUI: AuthenticationUI?
    private(set) var suppressesUI = false
    private(set) var operationPrompt: String?
    /// The application's own password, of the authentication context.
    private(set) var password: ApplicationPassword?
    /// What ends the call when it is invalidated.
    private(set) var context: (any KeychainAuthenticationContext)?

    init(_ dictionary: CFDictionary, for role: Role) throws {
        self.role = role
        guard dictionary.count <= Self.keysMax else { throw Refusal(.badParameter, "a dictionary has more than \(Self.keysMax) keys") }
        if let value = dictionary[kSecClass] { try takeClass(value as AnyObject) }
        for (key, value) in dictionary {
            guard let name = key as? String else { throw Refusal(.badParameter, "a key is not a string") }
            try take(name, value as AnyObject)
        }
        try settleKind()
        if kind == .certificate || kind == .identity { normalizeNames() }
        // What a match key means depends on the class, which may be said by a reference alone.
        if let kind { for key in matchKeys { try filter.take(key.name, key.value, for: kind) } }
    }

    private static let keysMax = 128

    /// A reference says its class, and an object is of one; what is said twice must be the same.
    private mutating func settleKind() throws {
        for known in [reference?.kind, object?.kind].compactMap(\.self) {
            guard kind == nil || kind == known else { throw Refusal(.noSuchClass, "the class is not that of the reference") }
            kind = known
        }
        if role == .copyMatching, reference != nil, !attributes.isEmpty {
            throw Refusal(.badParameter, "a persistent reference stands alone")
        }
        guard let object else { return }
        // What the caller says explicitly wins over what the object says of itself.
        attributes = object.attributes(forQuery: role != .add).merging(attributes)
        if role == .add, value == nil { value = object.value }
    }

    /// The names of certificates are kept in their normal form, and may be written as they stand in the certificate.
    private mutating func normalizeNames() {
        for name in [AttributeName.issuer, .subject] {
            if case .data(let bytes)? = attributes[name], let whole = NormalizedName(sequence: bytes) {
                attributes[name] = .data(whole.content)
            }
        }
    }

    private mutating func take(_ name: String, _ value: AnyObject) throws {
        let bytes = name.utf8.count
        switch name.first {
        case _ where bytes == 4: try takeAttribute(name, value)
        case "c" where name == kSecClass as String: break
        case "m" where bytes > 4: try takeMatch(name, value)
        case "r" where bytes > 4: try takeReturn(name, value)
        case "u" where bytes > 4: try takeUse(name, value)
        case "v" where bytes > 4: try takeValue(name, value)
        case "f" where bytes > 4: break
        default: throw Refusal(.badParameter, "the key \"\(name.prefix(32))\" is not known")
        }
    }

    private mutating func takeClass(_ value: AnyObject) throws {
        if role == .changes { throw Refusal(.noSuchAttribute, "an update cannot change the class") }
        guard let code = value as? String else { throw Refusal(.badParameter, "the class is not a string") }
        guard let kind = ItemKind(code: code) else {
            throw Refusal(.noSuchClass, "there is no class \"\(code.prefix(8))\"")
        }
        self.kind = kind
    }

    private mutating func takeAttribute(_ name: String, _ value: AnyObject) throws {
        switch NSString(string: name) {
        case kSecUseDataProtectionKeychain: break
        case kSecAttrAccessible:
            guard let code = value as? String, let known = Protection(rawValue: code) else {
                throw Refusal(.badParameter, "the accessibility is not known")
            }
            protection = known
        case kSecAttrAccessControl:
            guard let control = value as? SecAccessControl else {
                throw Refusal(.badParameter, "the access control is not a SecAccessControl")
            }
            accessControl = control
        case kSecAttrAccess:
            guard let access = value as? SecAccess else { throw Refusal(.badParameter, "the access is not a SecAccess") }
            guard role == .add else { throw Refusal(.unsupported, "who may read an item is said when it is added; later: vauban allow") }
            applications = access.applications
        case kSecAttrSynchronizable where (value as? String) == kSecAttrSynchronizableAny as String:
            guard role != .add, role != .changes else { throw Refusal(.badParameter, "kSecAttrSynchronizableAny is for searches") }
            includesSynchronizable = true
        case kSecAttrAccessGroup where !(value is String):
            throw Refusal(.missingEntitlement, "the access group is not a string")
        default:
            attributes[AttributeName(rawValue: name)] = try AttributeValue(foundation: value)
        }
    }

    private mutating func takeMatch(_ name: String, _ value: AnyObject) throws {
        if role == .changes { throw Refusal(.noSuchAttribute) }
        // Search results only exist for a search; Apple's add would report success and store nothing, which helps nobody. A delete means
        // every match, and may say so.
        if role == .delete, name == kSecMatchLimit as String, value as? String == kSecMatchLimitAll as String { return }
        guard role == .copyMatching else { throw Refusal(.badParameter, "match keys belong to SecItemCopyMatching") }
        guard name == kSecMatchLimit as String else { return matchKeys.append((name, value)) }
        switch value {
        case let text as String where text == kSecMatchLimitOne as String: limit = .one
        case let text as String where text == kSecMatchLimitAll as String: limit = .all
        case let number as NSNumber where number.int64Value > 0 && number.int64Value <= Int64(Int32.max):
            limit = MatchLimit(number: number.int64Value)
        default: throw Refusal(.badParameter, "the match limit is not valid")
        }
    }

    private mutating func takeReturn(_ name: String, _ value: AnyObject) throws {
        if role == .changes { throw Refusal(.noSuchAttribute) }
        guard let wanted = value as? Bool else { throw Refusal(.badParameter, "a return key takes a Boolean") }
        let kinds: ItemReturns =
            switch NSString(string: name) {
            case kSecReturnData: .data
            case kSecReturnAttributes: .attributes
            case kSecReturnRef: .ref
            case kSecReturnPersistentRef: .persistentRef
            default: throw Refusal(.badParameter, "the key \"\(name.prefix(32))\" is not known")
            }
        if wanted { returns.insert(kinds) } else { returns.remove(kinds) }
    }

    private mutating func takeUse(_ name: String, _ value: AnyObject) throws {
        if role == .changes { throw Refusal(.noSuchAttribute) }
        switch NSString(string: name) {
        case kSecUseOperationPrompt:
            guard let text = value as? String else { throw Refusal(.badParameter, "the operation prompt is not a string") }
            guard text.utf8.count <= ItemQuery.operationPromptBytesMax else {
                throw Refusal(.badParameter, "the operation prompt is too long")
            }
            operationPrompt = text
        case kSecUseAuthenticationUI:
            switch NSString(string: value as? String ?? "") {
            case kSecUseAuthenticationUIFail: authenticationUI = .fail
            case kSecUseAuthenticationUISkip:
                guard role == .copyMatching else { throw Refusal(.badParameter, "items can be skipped in a search only") }
                authenticationUI = .skip
            default: authenticationUI = .allow
            }
        case kSecUseNoAuthenticationUI: suppressesUI = (value as? Bool) ?? false
        case kSecUseAuthenticationContext:
            guard let context = value as? any KeychainAuthenticationContext else {
                throw Refusal(.authenticationFailed, "the authentication context is not an LAContext")
            }
            if context.interactionNotAllowed { suppressesUI = true }
            self.context = context
            password = context.applicationPassword
            if operationPrompt == nil, !context.localizedReason.isEmpty { operationPrompt = context.localizedReason }
        default: throw Refusal(.badParameter, "the key \"\(name.prefix(32))\" is not supported")
        }
    }

    private mutating func takeValue(_ name: String, _ value: AnyObject) throws {
        switch NSString(string: name) {
        case kSecValueData:
            guard let data = value as? Data else { throw Refusal(.badParameter, "kSecValueData is not Data") }
            self.value = data
        case kSecValuePersistentRef:
            if role == .changes { throw Refusal(.noSuchAttribute) }
            guard let data = value as? Data, let named = PersistentReference(data) else {
                throw Refusal(.badParameter, "the persistent reference is not one of this keychain")
            }
            // An item that is added gets an identity of its own.
            if role != .add { reference = named }
        case kSecValueRef:
            if role == .changes { throw Refusal(.noSuchAttribute) }
            guard let named = ItemObject(value) else { throw Refusal(.badParameter, "kSecValueRef is no certificate, key or identity") }
            object = named
        default: throw Refusal(.badParameter, "the key \"\(name.prefix(32))\" is not known")
        }
    }
}

// MARK: What a dictionary means

extension ItemDictionary {
    /// The item that an add describes.
    func record() throws -> ItemRecord {
        let kind = try requiredKind()
        guard kind != .identity else { throw Refusal(.badParameter, "an identity is added as the object that it is") }
        // What is asked back as an object must be one.
        if kind == .certificate, value != nil || returns.contains(.ref) { try Self.checkCertificate(value) }
        return try record(kind, attributes)
    }

    /// One of the two items that an identity is.
    func record(of part: ItemObject) throws -> ItemRecord {
        var own = part.attributes(forQuery: false)
        for name in [AttributeName.accessGroup, .label, .synchronizable] { if let value = attributes[name] { own[name] = value } }
        return try record(part.kind, own)
    }

    /// Without a class or control an item is readable while unlocked (C-052).
    private func record(_ kind: ItemKind, _ attributes: ItemAttributes) throws -> ItemRecord {
        let control = try resolvedControl()
        if case .key(let key)? = object, let own = key.material?.enclaveKey?.control { return try record(own, control, attributes) }
        guard attributes[.tokenID] == nil || kind != .key else {
            throw Refusal(.badParameter, "only a private key that the enclave made has its token")
        }
        guard control == nil || applications.isEmpty else {
            throw Refusal(.badParameter, "kSecAttrAccess and kSecAttrAccessControl exclude each other")
        }
        // A certificate is no secret: whoever cannot unlock must still be able to show it.
        let standard: Protection = kind == .certificate ? .always : .whenUnlocked
        return ItemRecord(
            kind: kind, attributes: attributes, protection: protection ?? accessControl?.protection ?? standard, accessControl: control)
    }

    /// A private key of the enclave is stored in the class that it was made for. What it asks for is the enclave's to keep, and is
    /// only told here.
    private func record(_ own: AccessControl, _ named: AccessControl?, _ attributes: ItemAttributes) throws -> ItemRecord {
        guard named.map({ $0 == own }) ?? true, protection.map({ $0 == own.protection }) ?? true, applications.isEmpty else {
            throw Refusal(.badParameter, "the key was made with another access control")
        }
        return ItemRecord(kind: .key, attributes: attributes, protection: own.protection)
    }

    private static func checkCertificate(_ value: Data?) throws(Undecodable) {
        guard let value, SecCertificate(der: [UInt8](value)) != nil else { throw Undecodable() }
    }

    func query() throws -> ItemQuery {
        var query = ItemQuery(kind: try requiredKind(), attributes: attributes)
        _ = try resolvedControl()
        query.protection = protection
        query.includesSynchronizable = includesSynchronizable
        // What is judged here is judged before the limit.
        query.limit = filter.isEmpty ? limit ?? .one : .all
        query.reference = reference?.item
        query.returnsData = returns.contains(.data) || needsObject(kind: query.kind)
        query.returnsAttributes =
            returns.contains(.attributes) || needsObject(kind: query.kind) || !filter.isEmpty
            || (query.returnsData && Self.mayBeOfEnclave(query.kind))
        query.returnsReference = returns.contains(.persistentRef)
        query.authenticationUI = authenticationUI ?? (suppressesUI ? .fail : .allow)
        query.operationPrompt = operationPrompt
        query.authorization = context?.authorization
        return query
    }

    func changes(of kind: ItemKind) throws -> ItemChanges {
        if kind == .certificate, value != nil { try Self.checkCertificate(value) }
        return ItemChanges(
            attributes: attributes, protection: protection ?? accessControl?.protection, accessControl: try resolvedControl(),
            hasData: value != nil)
    }

    /// Whether the objects themselves are to be made, of which passwords have none. A certificate must be read to be judged.
    func needsObject(kind: ItemKind) -> Bool {
        switch kind {
        case .certificate: returns.contains(.ref) || filter.needsCertificate
        case .key, .identity: returns.contains(.ref)
        case .genericPassword, .internetPassword, .permission: false
        }
    }

    /// Whether only the attributes say if the value is anybody's to have.
    static func mayBeOfEnclave(_ kind: ItemKind?) -> Bool { kind == .key || kind == .identity }

    private func requiredKind() throws -> ItemKind {
        guard let kind else { throw Refusal(.badParameter, "kSecClass is missing") }
        return kind
    }

    /// A class and a control together contradict each other, but for the pair that reading a plain item's attributes
    /// gives, so that results can be queries (Specs/secitem.md, 5).
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

/// What an `LAContext` tells a keychain call. LocalAuthentication stands above this module, so it is known here by what
/// it can do.
package protocol KeychainAuthenticationContext: AnyObject {
    var interactionNotAllowed: Bool { get }
    var localizedReason: String { get }
    /// What `setCredential` was given for the items that it opens.
    var applicationPassword: ApplicationPassword? { get }
    /// The enclave's handle to what the user has shown in it.
    var authorization: [UInt8]? { get }
    /// A call begins that the context's invalidation is to end; false when it is invalid already.
    func begin(_ call: CallCancellation) -> Bool
    func end(_ call: CallCancellation)
}
