internal import Foundation
internal import Security

extension Keychain {
    /// The secret of an item; nil where there is no such item. Where the item asks for the user, each call asks.
    ///
    /// - Parameters:
    ///   - name: The item.
    ///   - authentication: What the call may do to get at it: `.because("show the recovery codes")` tells the user why.
    public func secret<Name: PasswordName>(for name: Name, authentication: Authentication = .allowed) async throws -> Secret? {
        let found: HeldSecret? = try await call(authentication) { context in
            var query = try matching(name.fields, context.entries())
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var result: AnyObject?
            let status = SecItemCopyMatching(query as CFDictionary, &result)
            if status == errSecItemNotFound { return nil }
            try KeychainError.check(status)
            guard let data = result as? NSData else { throw KeychainError(status: errSecInternalComponent) }
            return HeldSecret(Secret(absorbing: data))
        }
        guard let found else { return nil }
        return found.secret.duplicate()
    }

    /// What describes an item, without its secret; nil where there is no such item. Where the item asks for the user, so
    /// does this; ``contains(_:)`` does not.
    public func item<Name: PasswordName>(for name: Name, authentication: Authentication = .allowed) async throws -> KeychainItem<Name>? {
        let found: [KeychainItem<Name>] = try await items(name.fields, kSecMatchLimitOne, authentication)
        return found.first
    }

    /// What describes every match, without secrets and in no particular order. An item whose name is not text is left out.
    ///
    /// - Parameters:
    ///   - query: What is nil in it matches any.
    ///   - authentication: `.skipping` leaves out what asks for the user; otherwise they are asked once for all of it.
    public func items<Query: PasswordQuery>(
        matching query: Query, authentication: Authentication = .allowed
    ) async throws -> [KeychainItem<Query.Name>] {
        try await items(query.fields, kSecMatchLimitAll, authentication)
    }

    private func items<Name: PasswordName>(
        _ fields: ItemFields, _ limit: CFString, _ authentication: Authentication
    ) async throws -> [KeychainItem<Name>] {
        let limit = limit as String
        return try await call(authentication) { context in
            var query = try matching(fields, context.entries(isSearch: true))
            query[kSecReturnAttributes as String] = true
            query[kSecMatchLimit as String] = limit
            var result: AnyObject?
            let status = SecItemCopyMatching(query as CFDictionary, &result)
            if status == errSecItemNotFound { return [] }
            try KeychainError.check(status)
            let found = result as? [[String: Any]] ?? (result as? [String: Any]).map { [$0] } ?? []
            return found.compactMap { KeychainItem(fields.itemClass, found: $0) }
        }
    }

    /// Whether there is an item of that name. Asks nobody, whatever the item asks for when it is read; fails with
    /// ``KeychainError/Reason/interactionNotAllowed`` where that cannot be known while the keychain is locked.
    public func contains<Name: PasswordName>(_ name: Name) async throws -> Bool {
        guard let refusal = try await existence(name.fields, .never) else { return true }
        guard refusal.reason == .interactionNotAllowed else { return false }
        // Locked, or an item that asks for the user: leaving those out tells the two apart.
        guard let second = try await existence(name.fields, .skipping) else { return true }
        guard second.reason == .notFound else { throw second }
        return true
    }

    /// Nil where there is a match; otherwise why none was told, if that is not a failure of another kind.
    private func existence(_ fields: ItemFields, _ authentication: Authentication) async throws -> KeychainError? {
        try await call(authentication) { context in
            let query = try matching(fields, context.entries(isSearch: true))
            let status = SecItemCopyMatching(query as CFDictionary, nil)
            if status == errSecSuccess { return nil }
            let refusal = KeychainError(status: status)
            guard [.notFound, .interactionNotAllowed].contains(refusal.reason) else { throw refusal }
            return refusal
        }
    }
}
