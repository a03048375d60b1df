// The four verbs, in Apple's names. Each reads its dictionaries into typed requests, asks keychaind, and answers a
// status; nothing is decided here.

internal import VaubanAuthenticationClient
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes

/// Adds an item: Apple's `SecItemAdd` (C-008). `result` receives what the return keys ask for.
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    reporting {
        let parsed = try ItemDictionary(attributes, for: .add)
        let object: AnyObject?
        if case .identity(let identity)? = parsed.object {
            object = try IdentityAdding(identity, parsed).run()
        } else {
            let record = try parsed.record()
            let added = try Keychain.client().add(
                record, secret: parsed.secret, password: parsed.passwordBytes, returns: parsed.wireReturns,
                applications: parsed.applications)
            guard let added else { return }
            guard
                let found = ItemResult(
                    added, kind: record.kind, makesObject: parsed.needsObject(kind: record.kind), keys: parsed.keyContext)
            else { throw Undecodable() }
            object = found.shaped(parsed.returns)
        }
        if let object { result?.pointee = object }
    }
}

/// Searches: Apple's `SecItemCopyMatching` (C-012 … C-016). Without a return key it only says whether there is a match.
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    reporting {
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

/// Changes every match: Apple's `SecItemUpdate` (C-017). The second dictionary holds attributes and the value only.
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    reporting {
        let selection = try ItemDictionary(query, for: .update)
        let request = try selection.query()
        let changes = try ItemDictionary(attributesToUpdate, for: .changes)
        let secret = changes.secret
        let wanted = try changes.changes(of: request.kind)
        try selection.running { (waiting, cancellation) throws(Refusal) in
            try Keychain.client().update(
                request, wanted, secret: secret, password: selection.passwordBytes, waiting: waiting, cancellation: cancellation)
        }
    }
}

/// Removes every match: Apple's `SecItemDelete` (C-018).
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    reporting {
        let parsed = try ItemDictionary(query, for: .delete)
        var request = try parsed.query()
        if case .identity? = parsed.object, request.reference == nil {
            // The one that the object is: its certificate's reference says which. Deleting asks nobody, and so does this.
            var search = request
            search.returnsReference = true
            search.authenticationUI = .describe
            // Without a reference the request would mean every identity.
            guard let reference = try Keychain.client().copyMatching(search).first?.reference else { throw Refusal(.itemNotFound) }
            request.reference = reference
            request.attributes = ItemAttributes()
        }
        try Keychain.client().delete(request)
    }
}

extension ItemObject {
    var secret: SecretBytes? {
        guard let value else { return nil }
        return SecretBytes(of: value)
    }
}

extension ItemDictionary {
    /// What has to come back so that the result can be made.
    fileprivate var wireReturns: ReturnKinds {
        var kinds: ReturnKinds = []
        if returns.contains(.data) || returns.contains(.ref) { kinds.insert(.data) }
        if returns.contains(.attributes) || returns.contains(.ref) || (returns.contains(.data) && Self.mayBeOfEnclave(kind)) {
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
