public import Foundation

/// Stores rights from one run of a program to the next: Apple's `LARightStore` (C-199 … C-207). Errors are of `NSOSStatusErrorDomain`:
/// errSecItemNotFound if there is no such right, errSecDuplicateItem if the identifier is in use.
public final class LARightStore: NSObject, Sendable {
    /// The rights of this program.
    public static let shared = LARightStore()

    private override init() { super.init() }

    // MARK: Finding

    /// Returns the right saved under an identifier, in the state `unknown`.
    /// - Throws: errSecItemNotFound if there is none, errSecNotAvailable if no Vauban service responds.
    public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
        try await RightCalls.run { LAPersistedRight(try StoredRight.find(identifier)) }
    }

    /// Passes the right saved under an identifier, or an error, to `completion`, on a private queue.
    public func right(forIdentifier identifier: String, completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void) {
        RightCalls.run(completion) { LAPersistedRight(try StoredRight.find(identifier)) }
    }

    // MARK: Saving

    /// Saves a right with a new enclave key that permanently carries the right's requirement (C-203 … C-205). Never replaces an existing
    /// right: remove it first.
    /// - Throws: errSecDuplicateItem if the identifier is in use, errSecAuthFailed if the requirement needs a passcode or a finger that is
    ///   not set up, errSecInteractionNotAllowed while the keychain is locked, errSecNotAvailable if no Vauban service responds.
    public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight {
        try await RightCalls.run { try Self.save(right, identifier: identifier, secret: nil) }
    }

    /// Saves a right with a secret, which is readable only while the right is authorized, and never changes (C-212).
    /// - Throws: As ``saveRight(_:identifier:)``.
    public func saveRight(_ right: LARight, identifier: String, secret: Data) async throws -> LAPersistedRight {
        try await RightCalls.run { try Self.save(right, identifier: identifier, secret: secret) }
    }

    /// Saves a right without a secret, and passes it or an error to `completion`, on a private queue.
    public func saveRight(_ right: LARight, identifier: String, completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void) {
        RightCalls.run(completion) { try Self.save(right, identifier: identifier, secret: nil) }
    }

    /// Saves a right with a secret, and passes it or an error to `completion`, on a private queue.
    public func saveRight(
        _ right: LARight, identifier: String, secret: Data, completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        RightCalls.run(completion) { try Self.save(right, identifier: identifier, secret: secret) }
    }

    private static func save(_ right: LARight, identifier: String, secret: Data?) throws -> LAPersistedRight {
        LAPersistedRight(try StoredRight.save(right.core.kind, tag: right.tag, identifier: identifier, secret: secret))
    }

    // MARK: Removing

    /// Removes a right with its key and its secret. Ends its authorization even if the removal fails.
    /// - Throws: errSecItemNotFound if it was removed already, errSecNotAvailable if no Vauban service responds.
    public func removeRight(_ right: LAPersistedRight) async throws {
        try await RightCalls.run { try Self.remove(right) }
    }

    /// Removes the right of an identifier with its key and its secret, and ends its authorizations in this process.
    /// - Throws: errSecItemNotFound if there is none, errSecNotAvailable if no Vauban service responds.
    public func removeRight(forIdentifier identifier: String) async throws { try await RightCalls.run { try Self.remove(identifier) } }

    /// Removes all rights of this program with their keys and secrets; succeeds if there are none.
    /// - Throws: errSecNotAvailable if no Vauban service responds.
    public func removeAllRights() async throws { try await RightCalls.run { try Self.removeAll() } }

    /// Removes a right as `removeRight(_:)` does, and passes nil or an error to `completion`, on a private queue.
    public func removeRight(_ right: LAPersistedRight, completion: @escaping @Sendable ((any Error)?) -> Void) {
        RightCalls.run({ completion($1) }) { try Self.remove(right) }
    }

    /// Removes a right as `removeRight(forIdentifier:)` does, and passes nil or an error to `completion`, on a private queue.
    public func removeRight(forIdentifier identifier: String, completion: @escaping @Sendable ((any Error)?) -> Void) {
        RightCalls.run({ completion($1) }) { try Self.remove(identifier) }
    }

    /// Removes all rights as `removeAllRights()` does, and passes nil or an error to `completion`, on a private queue.
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
