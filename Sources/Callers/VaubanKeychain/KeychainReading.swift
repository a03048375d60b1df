internal import Foundation
internal import Security

extension Keychain {
    /// Returns the secret of an item; nil if there is no such item. If the item requires the user, each call prompts.
    ///
    /// - Parameters:
    ///   - name: The item.
    ///   - authentication: How the call may authenticate the user: `.because("show the recovery codes")` shows the reason.
    /// - Throws: ``KeychainError``: `interactionNotAllowed` while the keychain is locked or if nothing can show a prompt, `cancelled` or
    ///   `authenticationFailed` for a prompt that fails; `CancellationError` if the task was cancelled.
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

    /// Returns an item's attributes without its secret; nil if there is no such item. If the item requires the user, this prompts too;
    /// ``contains(_:)`` does not.
    /// - Throws: As ``secret(for:authentication:)``.
    public func item<Name: PasswordName>(for name: Name, authentication: Authentication = .allowed) async throws -> KeychainItem<Name>? {
        let found: [KeychainItem<Name>] = try await items(name.fields, limit: kSecMatchLimitOne, authentication: authentication)
        return found.first
    }

    /// Returns the attributes of every match, without secrets and in no particular order. Omits items whose name is not text.
    ///
    /// - Parameters:
    ///   - query: The search; nil in it matches any value.
    ///   - authentication: `.skipping` omits items that require the user; otherwise one prompt covers all of them.
    /// - Throws: As ``secret(for:authentication:)``.
    public func items<Query: PasswordQuery>(
        matching query: Query, authentication: Authentication = .allowed
    ) async throws -> [KeychainItem<Query.Name>] {
        try await items(query.fields, limit: kSecMatchLimitAll, authentication: authentication)
    }

    private func items<Name: PasswordName>(
        _ fields: ItemFields, limit: CFString, authentication: Authentication
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

    /// Returns whether an item of that name exists, without a prompt.
    /// - Throws: ``KeychainError``: `interactionNotAllowed` if that cannot be known while the keychain is locked; `CancellationError` if
    ///   the task was cancelled.
    public func contains<Name: PasswordName>(_ name: Name) async throws -> Bool {
        guard let refusal = try await existence(name.fields, .never) else { return true }
        guard refusal.reason == .interactionNotAllowed else { return false }
        // Either the keychain is locked or the item requires the user: a search that omits such items distinguishes the two.
        guard let second = try await existence(name.fields, .skipping) else { return true }
        guard second.reason == .notFound else { throw second }
        return true
    }

    /// Returns nil if there is a match; otherwise the error that hides it. Throws errors of any other kind.
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
