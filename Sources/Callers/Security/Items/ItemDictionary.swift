// The grammar of a SecItem dictionary (secitem 5): the shape of a key says what it is, and every key is either
// understood or refused.

internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanKeychainWire

/// One dictionary, read but not yet judged as a whole.
struct ItemDictionary {
    enum Role { case add, copyMatching, update, delete, changes }

    private let role: Role
    private(set) var kind: ItemKind?
    private(set) var attributes = ItemAttributes()
    private(set) var value: Data?
    private(set) var returns: ReturnKinds = []
    private var protection: Protection?
    private var accessControl: SecAccessControl?
    /// Who else may read an item that is added (`kSecAttrAccess`).
    private(set) var applications: [String] = []
    private var includesSynchronizable = false
    private var limit: MatchLimit?
    private var authenticationUI: AuthenticationUI?
    private var suppressesUI = false
    private var operationPrompt: String?
    /// The application's own password, of the authentication context.
    private(set) var password: ApplicationPassword?

    init(_ dictionary: CFDictionary, for role: Role) throws {
        self.role = role
        for (key, value) in dictionary {
            guard let name = key as? String else { throw Refusal(.badParameter, "a key is not a string") }
            try take(name, value as AnyObject)
        }
    }

    private mutating func take(_ name: String, _ value: AnyObject) throws {
        let bytes = name.utf8.count
        switch name.first {
        case _ where bytes == 4: try takeAttribute(name, value)
        case "c" where name == kSecClass as String: try takeClass(value)
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
            if ["cert", "keys", "idnt"].contains(code) { throw Refusal(.unsupported, "certificates and keys are not stored by this version") }
            throw Refusal(.noSuchClass, "there is no class \"\(code.prefix(8))\"")
        }
        self.kind = kind
    }

    private mutating func takeAttribute(_ name: String, _ value: AnyObject) throws {
        switch NSString(string: name) {
        case kSecUseDataProtectionKeychain: break
        case kSecAttrAccessible:
            guard let code = value as? String, let known = Protection(rawValue: code) else { throw Refusal(.badParameter, "the accessibility is not known") }
            protection = known
        case kSecAttrAccessControl:
            guard let control = value as? SecAccessControl else { throw Refusal(.badParameter, "the access control is not a SecAccessControl") }
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
        // Search results only exist for a search; Apple's add would report success and store nothing, which helps nobody.
        guard role == .copyMatching else { throw Refusal(.badParameter, "match keys belong to SecItemCopyMatching") }
        guard name == kSecMatchLimit as String else { return }
        switch value {
        case let text as String where text == kSecMatchLimitOne as String: limit = .one
        case let text as String where text == kSecMatchLimitAll as String: limit = .all
        case let number as NSNumber where number.int64Value > 0 && number.int64Value <= Int64(Int32.max): limit = MatchLimit(number: number.int64Value)
        default: throw Refusal(.badParameter, "the match limit is not valid")
        }
    }

    private mutating func takeReturn(_ name: String, _ value: AnyObject) throws {
        if role == .changes { throw Refusal(.noSuchAttribute) }
        guard let wanted = value as? Bool else { throw Refusal(.badParameter, "a return key takes a Boolean") }
        switch NSString(string: name) {
        case kSecReturnData: if wanted { returns.insert(.data) }
        case kSecReturnAttributes: if wanted { returns.insert(.attributes) }
        // A password has no reference object: asking for one succeeds and gives nothing (secitem 6.1).
        case kSecReturnRef: break
        case kSecReturnPersistentRef: if wanted { throw Refusal(.unsupported, "persistent references are not in this version") }
        default: throw Refusal(.badParameter, "the key \"\(name.prefix(32))\" is not known")
        }
    }

    private mutating func takeUse(_ name: String, _ value: AnyObject) throws {
        if role == .changes { throw Refusal(.noSuchAttribute) }
        switch NSString(string: name) {
        case kSecUseOperationPrompt:
            guard let text = value as? String else { throw Refusal(.badParameter, "the operation prompt is not a string") }
            guard text.utf8.count <= ItemQuery.operationPromptBytesMax else { throw Refusal(.badParameter, "the operation prompt is too long") }
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
        case kSecValuePersistentRef, kSecValueRef:
            if role == .changes { throw Refusal(.noSuchAttribute) }
            throw Refusal(.unsupported, "references are not in this version")
        default: throw Refusal(.badParameter, "the key \"\(name.prefix(32))\" is not known")
        }
    }
}

// MARK: What a dictionary means

extension ItemDictionary {
    /// The item that an add describes; without a class or control it is readable while unlocked (C-052).
    func record() throws -> ItemRecord {
        let kind = try requiredKind()
        let control = try resolvedControl()
        guard control == nil || applications.isEmpty else {
            throw Refusal(.badParameter, "kSecAttrAccess and kSecAttrAccessControl exclude each other")
        }
        return ItemRecord(kind: kind, attributes: attributes, protection: protection ?? accessControl?.protection ?? .whenUnlocked, accessControl: control)
    }

    func query() throws -> ItemQuery {
        var query = ItemQuery(kind: try requiredKind(), attributes: attributes)
        _ = try resolvedControl()
        query.protection = protection
        query.includesSynchronizable = includesSynchronizable
        query.limit = limit ?? .one
        query.returnsData = returns.contains(.data)
        query.returnsAttributes = returns.contains(.attributes)
        query.authenticationUI = authenticationUI ?? (suppressesUI ? .fail : .allow)
        query.operationPrompt = operationPrompt
        return query
    }

    func changes(of kind: ItemKind) throws -> ItemChanges {
        ItemChanges(attributes: attributes, protection: protection ?? accessControl?.protection, accessControl: try resolvedControl(), hasData: value != nil)
    }

    private func requiredKind() throws -> ItemKind {
        guard let kind else { throw Refusal(.badParameter, "kSecClass is missing") }
        return kind
    }

    /// A class and a control together contradict each other, but for the pair that reading a plain item's attributes
    /// gives, so that results can be queries (secitem 5).
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
}
