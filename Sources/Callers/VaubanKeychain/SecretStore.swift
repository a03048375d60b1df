// An interface over the keychain: an application's code takes a store, and its tests provide one in memory.

/// A store of secrets by name: ``Keychain``, or ``InMemorySecretStore`` in tests.
///
/// ```swift
/// struct Session<Store: SecretStore> {
///     let store: Store
///     func signOut() async throws { try await store.remove(GenericPassword(service: "com.example.Mail", account: "anna")) }
/// }
/// ```
public protocol SecretStore: Sendable {
    /// Stores a secret under a name, in place of an existing one. An existing item keeps its protection if `protection` is nil.
    /// - Throws: The store's error: of ``Keychain``, a ``KeychainError``.
    func set<Name: PasswordName>(
        _ secret: borrowing Secret, for name: Name, protection: Protection?, authentication: Authentication
    ) async throws

    /// Returns the secret of that name; nil if there is none.
    /// - Throws: The store's error, but none if there is no such item.
    func secret<Name: PasswordName>(for name: Name, authentication: Authentication) async throws -> Secret?

    /// Removes the item of that name; returns false if there was none.
    /// - Throws: The store's error, but none if there is no such item.
    @discardableResult
    func remove<Name: PasswordName>(_ name: Name) async throws -> Bool

    /// Returns whether an item of that name exists, without a prompt.
    /// - Throws: The store's error, but none if there is no such item.
    func contains<Name: PasswordName>(_ name: Name) async throws -> Bool
}

extension SecretStore {
    /// Stores a secret under a name, in place of an existing one. An existing item keeps its protection.
    /// - Throws: The store's error.
    public func set<Name: PasswordName>(_ secret: borrowing Secret, for name: Name) async throws {
        try await set(secret, for: name, protection: nil, authentication: .allowed)
    }

    /// Stores a secret under a name, with this protection from now on.
    /// - Throws: The store's error.
    public func set<Name: PasswordName>(_ secret: borrowing Secret, for name: Name, protection: Protection) async throws {
        try await set(secret, for: name, protection: protection, authentication: .allowed)
    }

    /// Returns the secret of that name; nil if there is none. May prompt the user.
    /// - Throws: The store's error.
    public func secret<Name: PasswordName>(for name: Name) async throws -> Secret? {
        try await secret(for: name, authentication: .allowed)
    }
}

/// A store for tests: it lives in memory, encrypts nothing and never prompts.
public actor InMemorySecretStore: SecretStore {
    private var secrets: [AnyHashable: HeldSecret] = [:]
    private var failure: KeychainError?

    /// The protection passed to the last ``set(_:for:protection:authentication:)``.
    public private(set) var lastProtection: Protection?

    /// An empty store.
    public init() {}

    /// Makes every call fail with this error, to test how the application handles it; nil ends that.
    public func fail(with failure: KeychainError?) { self.failure = failure }

    /// Stores a secret until the process ends.
    /// - Throws: The error of ``fail(with:)``.
    public func set<Name: PasswordName>(
        _ secret: borrowing Secret, for name: Name, protection: Protection?, authentication: Authentication
    ) async throws {
        if let failure { throw failure }
        secrets[name] = HeldSecret(secret.duplicate())
        lastProtection = protection
    }

    /// Returns the secret of that name; nil if there is none.
    /// - Throws: The error of ``fail(with:)``.
    public func secret<Name: PasswordName>(for name: Name, authentication: Authentication) async throws -> Secret? {
        if let failure { throw failure }
        guard let held = secrets[name] else { return nil }
        return held.secret.duplicate()
    }

    /// Removes a secret; returns false if there was none.
    /// - Throws: The error of ``fail(with:)``.
    @discardableResult
    public func remove<Name: PasswordName>(_ name: Name) async throws -> Bool {
        if let failure { throw failure }
        return secrets.removeValue(forKey: name) != nil
    }

    /// Returns whether a secret of that name exists.
    /// - Throws: The error of ``fail(with:)``.
    public func contains<Name: PasswordName>(_ name: Name) async throws -> Bool {
        if let failure { throw failure }
        return secrets[name] != nil
    }
}
