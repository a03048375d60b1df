// The four SecItem functions. Each converts its dictionaries to typed requests, sends them to keychaind, and returns a status; nothing is
// decided here.

internal import VaubanAuthenticationClient
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes

/// Adds an item: Apple's `SecItemAdd` (C-008).
///
/// - Parameters:
///   - attributes: The item's class, attributes and value (`kSecValueData` as data, or `kSecValueRef`), and return keys. Without
///     `kSecAttrAccessible` or `kSecAttrAccessControl` the item is readable when unlocked, and a certificate always.
///   - result: Receives what the return keys request, in the shapes of ``SecItemCopyMatching(_:_:)``; unchanged without return keys. May be
///     nil.
/// - Returns: `errSecSuccess`; `errSecDuplicateItem` if an item has the same identifying attributes, which its label, accessibility and
///   generic data are not; `errSecParam` for an invalid dictionary or one with a match key; `errSecNoSuchAttr` for an attribute that the
///   class does not have; `errSecMissingEntitlement` for a foreign access group; `errSecInteractionNotAllowed` while the keychain is
///   locked; `errSecDataTooLarge` for a value above 1 MiB; or another of Apple's statuses.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    withReportedStatus {
        let parsed = try ItemDictionary(attributes, for: .add)
        let object: AnyObject?
        if case .identity(let identity)? = parsed.object {
            object = try IdentityAdding(identity, parsed).run()
        } else {
            let record = try parsed.record()
            let added = try KeychainConnections.client().add(
                record, secret: parsed.secret, password: parsed.passwordBytes,
                returns: parsed.wireReturns(of: record.kind, makesObject: parsed.needsObject(kind: record.kind)),
                applications: parsed.applications)
            guard let added else { return }
            guard
                let found = ItemResult(
                    added, kind: record.kind, makesObject: parsed.needsObject(kind: record.kind), keys: parsed.keyContext)
            else { throw StatusError.notACertificate }
            object = found.shaped(parsed.returns)
        }
        if let object { result?.pointee = object }
    }
}

/// Searches for items: Apple's `SecItemCopyMatching` (C-012 … C-016).
///
/// - Parameters:
///   - query: The class, attributes, match keys and return keys. Without `kSecMatchLimit` it returns one match.
///   - result: Receives one match, or an `NSArray` of matches if the limit is `kSecMatchLimitAll` or a number above 1. A match is `NSData`
///     for `kSecReturnData` or `kSecReturnPersistentRef` alone; a `SecKey`, `SecCertificate` or `SecIdentity`, and for a password nothing,
///     for `kSecReturnRef` alone; otherwise an `NSDictionary` whose keys are the raw strings of the constants. Without return keys, or with
///     a nil pointer, the call only reports whether there is a match. Unchanged unless the status is `errSecSuccess`.
/// - Returns: `errSecSuccess`; `errSecItemNotFound`; `errSecInteractionNotAllowed` if a match is locked or no prompt is possible;
///   `errSecUserCanceled`; `errSecAuthFailed`; `errSecParam`, `errSecNoSuchAttr` or `errSecNoSuchClass` for an invalid dictionary;
///   `errSecMissingEntitlement` for a foreign access group; or another of Apple's statuses.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    withReportedStatus {
        let parsed = try ItemDictionary(query, for: .copyMatching)
        let found = try ItemSearch(parsed).found()
        guard !parsed.returns.isEmpty, let result else { return }
        guard parsed.limit ?? .one != .one else {
            if let object = found.first?.shaped(parsed.returns) { result.pointee = object }
            return
        }
        result.pointee = NSArray(array: found.compactMap { $0.shaped(parsed.returns) })
    }
}

/// Updates every match: Apple's `SecItemUpdate` (C-017).
///
/// - Parameters:
///   - query: The class and attributes of the items. Match keys, among them `kSecMatchLimit`, are `errSecParam`; return keys are ignored.
///   - attributesToUpdate: New attributes and `kSecValueData` only; the class and other keys of a query are `errSecNoSuchAttr`.
///     `kSecAttrAccessible` alone removes the access control.
/// - Returns: `errSecSuccess` if all matches were updated, otherwise none is: `errSecItemNotFound`, `errSecDuplicateItem` if the new
///   identifying attributes are those of another item, `errSecInteractionNotAllowed`, `errSecParam`, or another of Apple's statuses.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    withReportedStatus {
        let selection = try ItemDictionary(query, for: .update)
        let request = try selection.query()
        let changes = try ItemDictionary(attributesToUpdate, for: .changes)
        let secret = changes.secret
        let wanted = try changes.changes(of: request.kind)
        try selection.perform { (waiting, cancellation) throws(Refusal) in
            try KeychainConnections.client().update(
                request, wanted, secret: secret, password: selection.passwordBytes, waiting: waiting, cancellation: cancellation)
        }
    }
}

/// Deletes every match, without a prompt: Apple's `SecItemDelete` (C-018).
///
/// - Parameter query: The class and attributes of the items. Match keys are `errSecParam`, except `kSecMatchLimit` with
///   `kSecMatchLimitAll`; return keys are ignored.
/// - Returns: `errSecSuccess`, `errSecItemNotFound` if nothing matched, `errSecInteractionNotAllowed` before the first unlock,
///   `errSecParam`, or another of Apple's statuses.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    withReportedStatus {
        let parsed = try ItemDictionary(query, for: .delete)
        var request = try parsed.query()
        if case .identity? = parsed.object, request.reference == nil {
            // The certificate's reference identifies the identity. A deletion does not prompt, so this lookup must not either.
            var search = request
            search.returns.insert(.reference)
            search.authenticationUI = .describe
            // Without a reference the request would match every identity.
            guard let reference = try KeychainConnections.client().copyMatching(search).first?.reference else {
                throw Refusal(.itemNotFound)
            }
            request.reference = reference
            request.attributes = ItemAttributes()
        }
        try KeychainConnections.client().delete(request)
    }
}

extension ItemObject {
    var secret: SecretBytes? {
        guard let value else { return nil }
        return SecretBytes(of: value)
    }
}

extension ItemDictionary {
    /// What keychaind must return to build the result. An object is made of the value and the attributes.
    func wireReturns(of kind: ItemKind?, makesObject: Bool) -> ReturnKinds {
        var kinds: ReturnKinds = []
        if returns.contains(.data) || makesObject { kinds.insert(.data) }
        if returns.contains(.attributes) || makesObject || (returns.contains(.data) && Self.mayBeOfEnclave(kind)) {
            kinds.insert(.attributes)
        }
        if returns.contains(.persistentRef) { kinds.insert(.reference) }
        return kinds
    }

    fileprivate var secret: SecretBytes? {
        guard let value else { return nil }
        return SecretBytes(of: value)
    }

    var passwordBytes: SecretBytes? {
        guard let password else { return nil }
        return password.bytes.duplicate()
    }
}
