// What an application needs of a keychain, apart from the keychain: its own wrapper takes a store, and its tests give it
// one in memory.

/// Something that keeps secrets by name: ``Keychain``, or ``InMemorySecretStore`` in tests.
///
/// ```swift
/// struct Session<Store: SecretStore> {
///     let store: Store
///     func signOut() async throws { try await store.remove(GenericPassword(service: "com.example.Mail", account: "anna")) }
/// }
/// ```
public protocol SecretStore: Sendable {
    /// Keeps a secret under a name, whether or not there was one. An item that is there keeps its protection where
    /// `protection` is nil.
    func set<Name: PasswordName>(
        _ secret: borrowing Secret, for name: Name, protection: Protection?, authentication: Authentication
    ) async throws

    /// The secret of that name; nil where there is none.
    func secret<Name: PasswordName>(for name: Name, authentication: Authentication) async throws -> Secret?

    /// Removes the item of that name; false where there was none.
    @discardableResult
    func remove<Name: PasswordName>(_ name: Name) async throws -> Bool

    /// Whether there is an item of that name. Asks nobody.
    func contains<Name: PasswordName>(_ name: Name) async throws -> Bool
}

extension SecretStore {
    /// Keeps a secret under a name, whether or not there was one. An item that is there keeps its protection.
    public func set<Name: PasswordName>(_ secret: borrowing Secret, for name: Name) async throws {
        try await set(secret, for: name, protection: nil, authentication: .allowed)
    }

    /// Keeps a secret under a name, under this protection from now on.
    public func set<Name: PasswordName>(_ secret: borrowing Secret, for name: Name, protection: Protection) async throws {
        try await set(secret, for: name, protection: protection, authentication: .allowed)
    }

    /// The secret of that name; nil where there is none. The user may be asked.
    public func secret<Name: PasswordName>(for name: Name) async throws -> Secret? {
        try await secret(for: name, authentication: .allowed)
    }
}

/// A store for tests: it is gone with the process, encrypts nothing and asks nobody.
public actor InMemorySecretStore: SecretStore {
    private var secrets: [AnyHashable: HeldSecret] = [:]
    private var failure: KeychainError?

    /// The protection that the last ``set(_:for:protection:authentication:)`` named.
    public private(set) var lastProtection: Protection?

    /// An empty store.
    public init() {}

    /// From now on every call fails with this error, so that a test sees what the application does then; nil ends that.
    public func fail(with failure: KeychainError?) { self.failure = failure }

    /// Keeps a secret until the process ends.
    public func set<Name: PasswordName>(
        _ secret: borrowing Secret, for name: Name, protection: Protection?, authentication: Authentication
    ) async throws {
        if let failure { throw failure }
        secrets[name] = HeldSecret(secret.duplicate())
        lastProtection = protection
    }

    /// The secret of that name; nil where there is none.
    public func secret<Name: PasswordName>(for name: Name, authentication: Authentication) async throws -> Secret? {
        if let failure { throw failure }
        guard let held = secrets[name] else { return nil }
        return held.secret.duplicate()
    }

    /// Removes a secret; false where there was none.
    @discardableResult
    public func remove<Name: PasswordName>(_ name: Name) async throws -> Bool {
        if let failure { throw failure }
        return secrets.removeValue(forKey: name) != nil
    }

    /// Whether there is a secret of that name.
    public func contains<Name: PasswordName>(_ name: Name) async throws -> Bool {
        if let failure { throw failure }
        return secrets[name] != nil
    }
}
