internal import Foundation
internal import Security

/// The keychain of the user who runs this program.
///
/// ```swift
/// let keychain = Keychain()
/// let name = GenericPassword(service: "com.example.Mail", account: "anna")
/// try await keychain.set(Secret(utf8: "a token"), for: name)
/// if let token = try await keychain.secret(for: name) {
///     token.withUnsafeBytes { bytes in connection.send(bytes) }
/// }
/// ```
///
/// A value of this type has no state and costs nothing to create. Calls run on separate threads, since they may wait for the user; any
/// number can run at once.
///
/// When a task is cancelled while it waits, it throws `CancellationError`. A call that has started continues: a secret that it reads is
/// overwritten, a change may still take effect, and a prompt disappears.
///
/// Every method throws ``KeychainError``, or `CancellationError` if its task was cancelled.
public struct Keychain: SecretStore, Hashable {
    /// The access group to search and to add to. With nil, an item is added to the program's first group, and searches cover all of its
    /// groups.
    public let accessGroup: String?

    /// Creates a keychain that uses one access group, or all of the program's.
    public init(accessGroup: String? = nil) { self.accessGroup = accessGroup }

    // MARK: Writing

    /// Stores a secret under a name, in place of an existing one.
    ///
    /// An existing item is updated, so its protection and its permissions stay as they are; deleting and adding it again would lose them.
    /// If the item requires the user, updating it prompts too.
    ///
    /// - Parameters:
    ///   - secret: At most 1 MiB; encrypt larger data yourself, and store its key here.
    ///   - name: The item.
    ///   - attributes: The item's attributes; nil leaves them as they are.
    ///   - protection: Nil leaves an existing item as it is and makes a new one readable while the keychain is unlocked; any other value
    ///     applies from now on.
    ///   - authentication: How the call may authenticate the user.
    /// - Throws: ``KeychainError``: `interactionNotAllowed` while the keychain is locked or if nothing can show a prompt, `cancelled` or
    ///   `authenticationFailed` for a prompt that fails, `tooLarge`, and `invalid` for an attribute that the item's class does not have;
    ///   `CancellationError` if the task was cancelled.
    public func set<Name: PasswordName>(
        _ secret: borrowing Secret, for name: Name, attributes: ItemAttributes, protection: Protection? = nil,
        authentication: Authentication = .allowed
    ) async throws {
        let held = HeldSecret(secret.duplicate())
        try await call(authentication) { context in
            let query = try matching(name.fields, context.entries())
            let changes = try Self.changes(held, attributes: attributes, protection: protection)
            // If a protection is given, the item usually does not exist yet. Another program may add or remove it between the two calls; if
            // that repeats too often, the call fails.
            for round in 0..<Self.roundsMax {
                if protection == nil || round > 0 {
                    let updated = SecItemUpdate(query as CFDictionary, changes as CFDictionary)
                    if updated != errSecItemNotFound { return try KeychainError.check(updated) }
                }
                let added = SecItemAdd(try Self.addition(query, changes) as CFDictionary, nil)
                if added != errSecDuplicateItem { return try KeychainError.check(added) }
            }
            throw KeychainError(status: errSecDuplicateItem)
        }
    }

    /// Stores a secret under a name, in place of an existing one, without attributes.
    /// - Throws: As ``set(_:for:attributes:protection:authentication:)``.
    public func set<Name: PasswordName>(
        _ secret: borrowing Secret, for name: Name, protection: Protection?, authentication: Authentication = .allowed
    ) async throws {
        try await set(secret, for: name, attributes: ItemAttributes(), protection: protection, authentication: authentication)
    }

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - secret: At most 1 MiB.
    ///   - name: The item.
    ///   - attributes: The item's attributes.
    ///   - protection: How it is protected.
    ///   - authentication: The application password, if the protection requires one; adding never prompts.
    /// - Throws: ``KeychainError``: `duplicate` if one of that name exists, `tooLarge`, `interactionNotAllowed` while the keychain is
    ///   locked, `authenticationFailed` if the protection needs a passcode or a finger that is not set up; `CancellationError` if the task
    ///   was cancelled.
    public func add<Name: PasswordName>(
        _ secret: borrowing Secret, for name: Name, attributes: ItemAttributes = ItemAttributes(), protection: Protection = .whenUnlocked,
        authentication: Authentication = .allowed
    ) async throws {
        let held = HeldSecret(secret.duplicate())
        try await call(authentication) { context in
            let item = try Self.addition(
                matching(name.fields, context.entries()), Self.changes(held, attributes: attributes, protection: protection))
            try KeychainError.check(SecItemAdd(item as CFDictionary, nil))
        }
    }

    /// Updates an item's attributes or protection, and leaves its secret as it is. If the item requires the user, updating it prompts too.
    ///
    /// - Parameters:
    ///   - name: The item.
    ///   - attributes: Nil leaves them as they are.
    ///   - protection: Nil leaves it as it is.
    ///   - authentication: How the call may authenticate the user.
    /// - Throws: ``KeychainError``: `notFound` if there is no such item, `interactionNotAllowed` while the keychain is locked or if
    ///   nothing can show a prompt, `cancelled` or `authenticationFailed` for a prompt that fails; `CancellationError` if the task was
    ///   cancelled.
    public func update<Name: PasswordName>(
        _ name: Name, attributes: ItemAttributes = ItemAttributes(), protection: Protection? = nil,
        authentication: Authentication = .allowed
    ) async throws {
        try await call(authentication) { context in
            let changes = try Self.changes(nil, attributes: attributes, protection: protection)
            try KeychainError.check(SecItemUpdate(try matching(name.fields, context.entries()) as CFDictionary, changes as CFDictionary))
        }
    }

    /// Removes an item, without a prompt. Returns false if there was none.
    /// - Throws: ``KeychainError``: `interactionNotAllowed` before the first unlock, `unavailable`; `CancellationError` if the task was
    ///   cancelled.
    @discardableResult
    public func remove<Name: PasswordName>(_ name: Name) async throws -> Bool { try await removeAll(name.fields) }

    /// Removes every match, without a prompt. Returns false if there was none. An empty query matches every item of its kind that belongs
    /// to this program.
    /// - Throws: As ``remove(_:)``.
    @discardableResult
    public func removeAll<Query: PasswordQuery>(matching query: Query) async throws -> Bool { try await removeAll(query.fields) }

    private func removeAll(_ fields: ItemFields) async throws -> Bool {
        try await call(.never) { context in
            let status = SecItemDelete(try matching(fields, context.entries()) as CFDictionary)
            if status == errSecItemNotFound { return false }
            try KeychainError.check(status)
            return true
        }
    }

    // MARK: Shared by all calls

    private static let roundsMax = 4

    /// Runs a call where it may block. Read its result on that thread: error messages are kept per thread.
    func call<Value: Sendable>(
        _ authentication: Authentication, _ body: @escaping @Sendable (CallContext) throws -> Value
    ) async throws -> Value {
        let context = CallContext(authentication)
        return try await BlockingCalls.shared.run(
            {
                defer { context.end() }
                return try body(context)
            }, abandon: { context.end() })
    }

    /// Returns the attributes by which an item is found and with which it is added.
    func matching(_ fields: ItemFields, _ entries: [String: Any]) -> [String: Any] {
        var query = fields.values.mapValues(\.object)
        query[kSecClass as String] = fields.itemClass
        query[kSecAttrAccessGroup as String] = accessGroup
        // On macOS the file-based keychain supports neither accessibility nor access controls.
        query[kSecUseDataProtectionKeychain as String] = true
        return query.merging(entries) { $1 }
    }

    private static func changes(
        _ held: HeldSecret?, attributes: ItemAttributes, protection: Protection?
    ) throws(KeychainError) -> [String: Any] {
        var changes = attributes.fields
        if let held { changes[kSecValueData as String] = held.secret.disclosed() }
        if let protection {
            let attribute = try protection.attribute()
            changes[attribute.name] = attribute.value
        }
        return changes
    }

    private static func addition(_ query: [String: Any], _ changes: [String: Any]) throws(KeychainError) -> [String: Any] {
        var item = query.merging(changes) { $1 }
        if item[kSecAttrAccessible as String] == nil, item[kSecAttrAccessControl as String] == nil {
            let attribute = try Protection.whenUnlocked.attribute()
            item[attribute.name] = attribute.value
        }
        return item
    }
}
