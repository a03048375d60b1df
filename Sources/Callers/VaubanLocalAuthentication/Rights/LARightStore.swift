public import Foundation

/// Keeps rights from one run of a program to the next: Apple's `LARightStore` (C-199 … C-207). What went wrong is an error of
/// `NSOSStatusErrorDomain`: errSecItemNotFound where there is no such right, errSecDuplicateItem where the identifier has one already.
public final class LARightStore: NSObject, Sendable {
    /// The rights of this program.
    public static let shared = LARightStore()

    private override init() { super.init() }

    // MARK: Finding

    /// The right that was saved under an identifier; nobody was asked for it yet.
    public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
        try await RightCalls.run { LAPersistedRight(try StoredRight.find(identifier)) }
    }

    /// The same, which answers on a private queue.
    public func right(forIdentifier identifier: String, completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void) {
        RightCalls.run(completion) { LAPersistedRight(try StoredRight.find(identifier)) }
    }

    // MARK: Saving

    /// Keeps a right, with a key of its own that asks for what the right requires, for good (C-203 … C-205). What is there is never
    /// replaced:
    /// remove it first.
    public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight {
        try await RightCalls.run { try Self.save(right, identifier, nil) }
    }

    /// The same with a secret, which is readable only while the right is authorized, and never changes (C-212).
    public func saveRight(_ right: LARight, identifier: String, secret: Data) async throws -> LAPersistedRight {
        try await RightCalls.run { try Self.save(right, identifier, secret) }
    }

    /// The same without a secret, which answers on a private queue.
    public func saveRight(_ right: LARight, identifier: String, completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void) {
        RightCalls.run(completion) { try Self.save(right, identifier, nil) }
    }

    /// The same with a secret, which answers on a private queue.
    public func saveRight(
        _ right: LARight, identifier: String, secret: Data, completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        RightCalls.run(completion) { try Self.save(right, identifier, secret) }
    }

    private static func save(_ right: LARight, _ identifier: String, _ secret: Data?) throws -> LAPersistedRight {
        LAPersistedRight(try StoredRight.save(right.core.kind, tag: right.tag, identifier: identifier, secret: secret))
    }

    // MARK: Removing

    /// Removes a right with its key and its secret. It is no longer authorized, whether or not that succeeds.
    public func removeRight(_ right: LAPersistedRight) async throws {
        try await RightCalls.run { try Self.remove(right) }
    }

    /// Removes the right of an identifier with its key and its secret; what this process holds of it is no longer authorized.
    public func removeRight(forIdentifier identifier: String) async throws { try await RightCalls.run { try Self.remove(identifier) } }

    /// Removes all rights of this program with their keys and secrets; that there are none is no error.
    public func removeAllRights() async throws { try await RightCalls.run { try Self.removeAll() } }

    /// The same as `removeRight(_:)`, which answers on a private queue.
    public func removeRight(_ right: LAPersistedRight, completion: @escaping @Sendable ((any Error)?) -> Void) {
        RightCalls.run({ completion($1) }) { try Self.remove(right) }
    }

    /// The same as `removeRight(forIdentifier:)`, which answers on a private queue.
    public func removeRight(forIdentifier identifier: String, completion: @escaping @Sendable ((any Error)?) -> Void) {
        RightCalls.run({ completion($1) }) { try Self.remove(identifier) }
    }

    /// The same as `removeAllRights()`, which answers on a private queue.
    public func removeAllRights(completion: @escaping @Sendable ((any Error)?) -> Void) {
        RightCalls.run({ completion($1) }) { try Self.removeAll() }
    }

    private static func remove(_ identifier: String) throws {
        ActiveRights.deauthorize { $0.identifier == identifier }
        try StoredRight.remove(identifier)
    }

    private static func removeAll() throws {
        ActiveRights.deauthorize { _ in true }
        try StoredRight.removeAll()
    }

    private static func remove(_ right: LAPersistedRight) throws {
        right.core.deauthorize()
        try right.gate.kept.remove()
    }
}
