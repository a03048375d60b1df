// The four verbs, in Apple's names. Each reads its dictionaries into typed requests, asks keychaind, and answers a
// status; nothing is decided here.

internal import VaubanAccessPolicy
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanSecretBytes

/// Adds an item: Apple's `SecItemAdd` (C-008). `result` receives what the return keys ask for.
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    reporting {
        let parsed = try ItemDictionary(attributes, for: .add)
        let record = try parsed.record()
        let secret = parsed.secret
        let added = try Keychain.client().add(record, secret: secret, password: parsed.passwordBytes, returns: parsed.returns, applications: parsed.applications)
        if !parsed.returns.isEmpty { result?.pointee = added.map { ItemResult.object(for: $0, parsed.returns) } ?? nil }
    }
}

/// Searches: Apple's `SecItemCopyMatching` (C-012 … C-016). Without a return key it only says whether there is a match.
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    reporting {
        let parsed = try ItemDictionary(query, for: .copyMatching)
        let request = try parsed.query()
        let found = try Keychain.client().copyMatching(request, password: parsed.passwordBytes)
        guard !parsed.returns.isEmpty, let result else { return }
        if request.limit == .one {
            result.pointee = found.first.map { ItemResult.object(for: $0, parsed.returns) } ?? nil
        } else {
            result.pointee = NSArray(array: found.map { ItemResult.object(for: $0, parsed.returns) })
        }
    }
}

/// Changes every match: Apple's `SecItemUpdate` (C-017). The second dictionary holds attributes and the value only.
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    reporting {
        let selection = try ItemDictionary(query, for: .update)
        let request = try selection.query()
        let changes = try ItemDictionary(attributesToUpdate, for: .changes)
        let secret = changes.secret
        try Keychain.client().update(request, try changes.changes(of: request.kind), secret: secret, password: selection.passwordBytes)
    }
}

/// Removes every match: Apple's `SecItemDelete` (C-018).
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    reporting {
        try Keychain.client().delete(try ItemDictionary(query, for: .delete).query())
    }
}

/// Runs a verb and answers its status; what the person should know is kept for `SecCopyErrorMessageString`.
private func reporting(_ body: () throws -> Void) -> OSStatus {
    do {
        try body()
        return errSecSuccess
    } catch let refusal as Refusal {
        LastRefusal.set(refusal)
        return refusal.status
    } catch {
        return errSecInternal
    }
}

extension ItemDictionary {
    /// The value on its way out, copied once and straight from the caller's own data.
    fileprivate var secret: SecretBytes? {
        guard let value else { return nil }
        return SecretBytes(count: value.count) { target in value.withUnsafeBytes { target.copyMemory(from: $0) } }
    }

    fileprivate var passwordBytes: SecretBytes? {
        guard let password else { return nil }
        return password.bytes.duplicate()
    }
}
