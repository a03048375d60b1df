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
/// A value of this type holds nothing open and is free to make. Calls run on threads of their own, since they may wait for a
/// user; any number can run at once.
///
/// When a task is cancelled while it waits, it stops waiting with `CancellationError`. A call that had begun goes on: a secret
/// that is read is overwritten, a change may still happen, and a question to the user disappears.
///
/// Every method throws ``KeychainError``, or `CancellationError` when its task was cancelled.
public struct Keychain: SecretStore, Hashable {
    /// The access group that items are looked for in and added to. With nil an item is added to the program's first group
    /// and looked for in all of them.
    public let accessGroup: String?

    /// The keychain, or the part of it that is an access group.
    public init(accessGroup: String? = nil) { self.accessGroup = accessGroup }

    // MARK: Writing

    /// Keeps a secret under a name, whether or not there was one.
    ///
    /// An item that is there is changed in place, so that what it is protected by and who may read it stay as they are;
    /// where it asks for the user, changing it does, too. To delete it and add it again would lose all that.
    ///
    /// - Parameters:
    ///   - secret: At most 1 MiB; encrypt more outside, and keep its key here.
    ///   - name: The item.
    ///   - attributes: What describes the item; what is nil stays as it is.
    ///   - protection: Nil leaves an item as it is and adds a new one readable while the keychain is unlocked; anything else
    ///     holds from now on.
    ///   - authentication: What the call may do to get at the item.
    public func set<Name: PasswordName>(
        _ secret: borrowing Secret, for name: Name, attributes: ItemAttributes, protection: Protection? = nil,
        authentication: Authentication = .allowed
    ) async throws {
        let held = HeldSecret(secret.duplicate())
        try await call(authentication) { context in
            let query = try matching(name.fields, context.entries())
            let changes = try Self.changes(held, attributes, protection)
            // Who says a protection most often has no item yet. Between the two calls somebody else may add or remove it;
            // where that has no end, it is told.
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

    /// Keeps a secret under a name, whether or not there was one: the same without attributes.
    public func set<Name: PasswordName>(
        _ secret: borrowing Secret, for name: Name, protection: Protection?, authentication: Authentication = .allowed
    ) async throws {
        try await set(secret, for: name, attributes: ItemAttributes(), protection: protection, authentication: authentication)
    }

    /// Adds an item, and fails with ``KeychainError/Reason/duplicate`` where there is one of that name.
    ///
    /// - Parameters:
    ///   - secret: At most 1 MiB.
    ///   - name: The item.
    ///   - attributes: What describes the item.
    ///   - protection: How it is protected.
    ///   - authentication: For the application's own password, where the protection needs it; adding asks nobody.
    public func add<Name: PasswordName>(
        _ secret: borrowing Secret, for name: Name, attributes: ItemAttributes = ItemAttributes(), protection: Protection = .whenUnlocked,
        authentication: Authentication = .allowed
    ) async throws {
        let held = HeldSecret(secret.duplicate())
        try await call(authentication) { context in
            let item = try Self.addition(matching(name.fields, context.entries()), Self.changes(held, attributes, protection))
            try KeychainError.check(SecItemAdd(item as CFDictionary, nil))
        }
    }

    /// Changes what describes an item or protects it, and leaves its secret as it is. Fails with
    /// ``KeychainError/Reason/notFound`` where there is none. Where the item asks for the user, changing it does, too.
    ///
    /// - Parameters:
    ///   - name: The item.
    ///   - attributes: What is nil stays as it is.
    ///   - protection: Nil leaves it as it is.
    ///   - authentication: What the call may do to get at the item.
    public func update<Name: PasswordName>(
        _ name: Name, attributes: ItemAttributes = ItemAttributes(), protection: Protection? = nil,
        authentication: Authentication = .allowed
    ) async throws {
        try await call(authentication) { context in
            let changes = try Self.changes(nil, attributes, protection)
            try KeychainError.check(SecItemUpdate(try matching(name.fields, context.entries()) as CFDictionary, changes as CFDictionary))
        }
    }

    /// Removes an item; false where there was none. Asks nobody, whatever the item asks for when it is read.
    @discardableResult
    public func remove<Name: PasswordName>(_ name: Name) async throws -> Bool { try await removeAll(name.fields) }

    /// Removes every match; false where there was none. Asks nobody. A query without anything in it means every item of its
    /// kind that is this program's.
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

    // MARK: What all calls share

    private static let roundsMax = 4

    /// Runs one call where it may block. What it answers must be read on that thread: messages are kept for each thread.
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

    /// The keys by which an item is found, which are also those that it is added with.
    func matching(_ fields: ItemFields, _ entries: [String: Any]) -> [String: Any] {
        var query = fields.values.mapValues(\.object)
        query[kSecClass as String] = fields.itemClass
        query[kSecAttrAccessGroup as String] = accessGroup
        // On macOS the older keychain knows neither accessibility nor access controls.
        query[kSecUseDataProtectionKeychain as String] = true
        return query.merging(entries) { $1 }
    }

    private static func changes(
        _ held: HeldSecret?, _ attributes: ItemAttributes, _ protection: Protection?
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
