// Parses a SecItem dictionary (Specs/secitem.md, 5): the form of a key determines its kind, and every key is either parsed or refused.

internal import VaubanAccessPolicy
internal import VaubanKeyWire
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal

/// One dictionary, parsed key by key but not yet validated as a whole.
struct ItemDictionary {
    enum Role { case add, copyMatching, update, delete, changes }

    private let role: Role
    private(set) var kind: ItemKind?
    private(set) var attributes = ItemAttributes()
    private(set) var value: Data?
    private(set) var returns: ItemReturns = []
    /// The item that a persistent reference identifies.
    private(set) var reference: PersistentReference?
    /// The object that the item is or will be.
    private(set) var object: ItemObject?
    private(set) var filter = MatchFilter()
    private var matchKeys: [(name: String, value: AnyObject)] = []
    private(set) var protection: ProtectionClass?
    private(set) var accessControl: SecAccessControl?
    /// The programs that may read an added item too (`kSecAttrAccess`).
    private(set) var applications: [String] = []
    private(set) var includesSynchronizable = false
    private(set) var limit: MatchLimit?
    private(set) var authenticationUI: AuthenticationUI?
    private(set) var suppressesUI = false
    private(set) var operationPrompt: String?
    /// The application password of the authentication context.
    private(set) var password: ApplicationPassword?
    /// The context whose invalidation ends the call.
    private(set) var context: (any KeychainAuthenticationContext)?

    init(_ dictionary: CFDictionary, for role: Role) throws {
        self.role = role
        guard dictionary.count <= Self.keysMax else { throw Refusal(.badParameter, "A dictionary has more than \(Self.keysMax) keys") }
        let entries = try dictionary.textEntries()
        // The class is parsed before anything else.
        for entry in entries where entry.name == Self.className { try takeClass(entry.value) }
        for entry in entries where entry.name != Self.className { try take(entry.name, entry.value) }
        try determineKind()
        if kind == .certificate || kind == .identity { normalizeNames() }
        // The meaning of a match key depends on the class, which may come from a reference alone.
        if let kind { for key in matchKeys { try filter.take(key.name, key.value, for: kind) } }
    }

    private static let keysMax = 128

    // The keys as Swift's own strings, each made once: comparing two objects of Foundation takes a hundred times as long.
    private static let className = kSecClass as String
    private static let attrAccess = kSecAttrAccess as String
    private static let attrAccessControl = kSecAttrAccessControl as String
    private static let attrAccessGroup = kSecAttrAccessGroup as String
    private static let attrAccessible = kSecAttrAccessible as String
    private static let attrSynchronizable = kSecAttrSynchronizable as String
    private static let matchLimit = kSecMatchLimit as String
    private static let returnAttributes = kSecReturnAttributes as String
    private static let returnData = kSecReturnData as String
    private static let returnPersistentRef = kSecReturnPersistentRef as String
    private static let returnRef = kSecReturnRef as String
    private static let useAuthenticationContext = kSecUseAuthenticationContext as String
    private static let useAuthenticationUI = kSecUseAuthenticationUI as String
    private static let useDataProtectionKeychain = kSecUseDataProtectionKeychain as String
    private static let useNoAuthenticationUI = kSecUseNoAuthenticationUI as String
    private static let useOperationPrompt = kSecUseOperationPrompt as String
    private static let valueData = kSecValueData as String
    private static let valuePersistentRef = kSecValuePersistentRef as String
    private static let valueRef = kSecValueRef as String

    /// Keys of four letters whose values are interpreted even if they are text.
    private static let attributesOfOtherForms: Set<String> = [
        useDataProtectionKeychain, attrAccessible, attrAccessControl, attrAccess, attrSynchronizable,
    ]

    /// Determines the class from the dictionary, the reference or the object, which must agree.
    private mutating func determineKind() throws {
        for known in [reference?.kind, object?.kind].compactMap(\.self) {
            guard kind == nil || kind == known else { throw Refusal(.noSuchClass, "the class differs from that of the reference") }
            kind = known
        }
        if role == .copyMatching, reference != nil, !attributes.isEmpty {
            throw Refusal(.badParameter, "A persistent reference cannot be combined with other keys")
        }
        guard let object else { return }
        // Explicit attributes take precedence over those of the object.
        attributes = object.attributes(forQuery: role != .add).merging(attributes)
        if role == .add, value == nil { value = object.value }
    }

    /// Normalizes certificate names, since they are stored in that form; callers may use the form of the certificate.
    private mutating func normalizeNames() {
        for name in [AttributeName.issuer, .subject] {
            if case .data(let bytes)? = attributes[name], let whole = NormalizedName(sequence: bytes) {
                attributes[name] = .data(whole.content)
            }
        }
    }

    private mutating func take(_ name: String, _ any: Any) throws {
        let bytes = name.utf8.count
        let attribute = AttributeName(rawValue: name)
        // Most attributes are text and stay text, for which no object of Foundation needs to be made.
        if let attribute, !Self.attributesOfOtherForms.contains(name), let text = any as? String {
            attributes[attribute] = .text(text)
            return
        }
        let value = any as AnyObject
        if let attribute { return try takeAttribute(named: name, attribute, value: value) }
        switch name.first {
        case "m" where bytes > 4: try takeMatch(name, value)
        case "r" where bytes > 4: try takeReturn(name, value)
        case "u" where bytes > 4: try takeUse(name, value)
        case "v" where bytes > 4: try takeValue(name, value)
        case "f" where bytes > 4: break
        default: throw Refusal(.badParameter, "The key \"\(name.prefix(32))\" is not known")
        }
    }

    private mutating func takeClass(_ value: Any) throws {
        if role == .changes { throw Refusal(.noSuchAttribute, "an update cannot change the class") }
        guard let code = value as? String else { throw Refusal(.badParameter, "The class is not a string") }
        guard let kind = ItemKind(code: code) else {
            throw Refusal(.noSuchClass, "there is no class \"\(code.prefix(8))\"")
        }
        self.kind = kind
    }

    private mutating func takeAttribute(named name: String, _ attribute: AttributeName, value: AnyObject) throws {
        switch name {
        case Self.useDataProtectionKeychain: break
        case Self.attrAccessible:
            guard let code = value as? String, let known = ProtectionClass(rawValue: code) else {
                throw Refusal(.badParameter, "The accessibility is not known")
            }
            protection = known
        case Self.attrAccessControl:
            guard let control = value as? SecAccessControl else {
                throw Refusal(.badParameter, "The access control is not a SecAccessControl")
            }
            accessControl = control
        case Self.attrAccess:
            guard let access = value as? SecAccess else { throw Refusal(.badParameter, "The access is not a SecAccess") }
            guard role == .add else {
                throw Refusal(.unsupported, "kSecAttrAccess is accepted when an item is added; to change it later, run: vauban allow")
            }
            applications = access.applications
        case Self.attrSynchronizable where (value as? String) == kSecAttrSynchronizableAny as String:
            guard role != .add, role != .changes else { throw Refusal(.badParameter, "kSecAttrSynchronizableAny is for searches") }
            includesSynchronizable = true
        case Self.attrAccessGroup where !(value is String):
            throw Refusal(.missingEntitlement, "the access group is not a string")
        default:
            attributes[attribute] = try AttributeValue(foundation: value)
        }
    }

    private mutating func takeMatch(_ name: String, _ value: AnyObject) throws {
        if role == .changes { throw Refusal(.noSuchAttribute) }
        // Match keys are for searches. Apple's add would report success and store nothing. A delete removes every match, so it may contain
        // kSecMatchLimitAll.
        if role == .delete, name == Self.matchLimit, value as? String == kSecMatchLimitAll as String { return }
        guard role == .copyMatching else { throw Refusal(.badParameter, "Match keys belong to SecItemCopyMatching") }
        guard name == Self.matchLimit else { return matchKeys.append((name, value)) }
        switch value {
        case let text as String where text == kSecMatchLimitOne as String: limit = .one
        case let text as String where text == kSecMatchLimitAll as String: limit = .all
        // A larger number, such as `Int.max`, is more than there can be items.
        case let number as NSNumber where number.int64Value > 0: limit = MatchLimit(number: min(number.int64Value, Int64(Int32.max)))
        default: throw Refusal(.badParameter, "The match limit is not valid")
        }
    }

    private mutating func takeReturn(_ name: String, _ value: AnyObject) throws {
        if role == .changes { throw Refusal(.noSuchAttribute) }
        // Converts as `as? Bool` does, without the search for a conversion.
        guard let wanted = (value as? NSNumber).flatMap({ Bool(exactly: $0) }) else {
            throw Refusal(.badParameter, "A return key takes a Boolean")
        }
        let kinds: ItemReturns =
            switch name {
            case Self.returnData: .data
            case Self.returnAttributes: .attributes
            case Self.returnRef: .ref
            case Self.returnPersistentRef: .persistentRef
            default: throw Refusal(.badParameter, "The key \"\(name.prefix(32))\" is not known")
            }
        if wanted { returns.insert(kinds) } else { returns.remove(kinds) }
    }

    private mutating func takeUse(_ name: String, _ value: AnyObject) throws {
        if role == .changes { throw Refusal(.noSuchAttribute) }
        switch name {
        case Self.useOperationPrompt:
            guard let text = value as? String else { throw Refusal(.badParameter, "The operation prompt is not a string") }
            guard text.utf8.count <= ItemQuery.operationPromptBytesMax else {
                throw Refusal(.badParameter, "The operation prompt is too long")
            }
            operationPrompt = text
        case Self.useAuthenticationUI:
            switch NSString(string: value as? String ?? "") {
            case kSecUseAuthenticationUIFail: authenticationUI = .fail
            case kSecUseAuthenticationUISkip:
                guard role == .copyMatching else { throw Refusal(.badParameter, "Items can be skipped in a search only") }
                authenticationUI = .skip
            default: authenticationUI = .allow
            }
        case Self.useNoAuthenticationUI: suppressesUI = (value as? Bool) ?? false
        case Self.useAuthenticationContext:
            guard let context = value as? any KeychainAuthenticationContext else {
                throw Refusal(.authenticationFailed, "the authentication context is not an LAContext")
            }
            self.context = context
            password = context.applicationPassword
            if operationPrompt == nil, !context.localizedReason.isEmpty { operationPrompt = context.localizedReason }
        default: throw Refusal(.badParameter, "The key \"\(name.prefix(32))\" is not supported")
        }
    }

    private mutating func takeValue(_ name: String, _ value: AnyObject) throws {
        switch name {
        case Self.valueData:
            guard let data = value as? Data else { throw Refusal(.badParameter, "kSecValueData is not Data") }
            self.value = data
        case Self.valuePersistentRef:
            if role == .changes { throw Refusal(.noSuchAttribute) }
            guard let data = value as? Data, let named = PersistentReference(data) else {
                throw Refusal(.badParameter, "The persistent reference is not one of this keychain")
            }
            // An added item gets a new identifier.
            if role != .add { reference = named }
        case Self.valueRef:
            if role == .changes { throw Refusal(.noSuchAttribute) }
            guard let named = ItemObject(value) else { throw Refusal(.badParameter, "kSecValueRef is not a certificate, key or identity") }
            object = named
        default: throw Refusal(.badParameter, "The key \"\(name.prefix(32))\" is not known")
        }
    }
}
