public import Foundation
internal import VaubanSecurity
internal import Synchronization

/// A right that outlives its process, with a private key that never leaves the enclave and works only while the right is authorized:
/// Apple's `LAPersistedRight` (C-200 … C-213). `LARightStore` returns it; its requirement was fixed when it was saved.
///
/// `@unchecked Sendable`: every stored property is immutable; the core and the gate protect their mutable state with locks.
public final class LAPersistedRight: LARight, @unchecked Sendable {
    let gate: KeyGate

    init(_ kept: StoredRight) {
        gate = KeyGate(kept)
        super.init(gate: gate)
        tag = kept.tag
        ActiveRights.add(self)
    }

    /// The right's key. Retaining it retains the right, and so its authorization.
    public var key: LAPrivateKey { LAPrivateKey(self) }

    /// The secret that was saved with the right, if any. Retaining it retains the right, and so its authorization.
    public var secret: LASecret { LASecret(self) }

    /// Calls `body` with the private key under the right's authorization. Never prompts.
    func withPrivateKey<Value>(_ body: (SecKey) throws -> Value) throws -> Value {
        guard let context = core.authorization else { throw LAError.rightNotAuthorized }
        do {
            return try body(gate.key(for: context))
        } catch let error as NSError where Self.isEnding(error) {
            // A lock, another enrollment or another passcode has revoked the authorization: the enclave's refusal is the first notice of
            // that.
            core.revoke(context)
            throw LAError.rightNotAuthorized
        }
    }

    /// A cancelled use of a key is an `LAError` (Specs/secitem.md, 12.2).
    private static func isEnding(_ error: NSError) -> Bool {
        error.domain == LAErrorDomain || error.domain == NSOSStatusErrorDomain && endings.contains(error.code)
    }

    private static let endings: Set<Int> = Set(
        [errSecInteractionNotAllowed, errSecAuthFailed, errSecUserCanceled, errSecItemNotFound].map { Int($0) })
}

/// The persisted rights in use by this process, so that removing one ends it everywhere.
enum ActiveRights {
    private struct Held: Sendable {
        weak var right: LAPersistedRight?
    }

    private static let all = Mutex<[Held]>([])

    static func add(_ right: LAPersistedRight) {
        all.withLock { held in
            held.removeAll { $0.right == nil }
            held.append(Held(right: right))
        }
    }

    static func deauthorize(_ isMeant: (StoredRight) -> Bool) {
        let rights = all.withLock { held in held.compactMap(\.right) }
        for right in rights where isMeant(right.gate.kept) { right.core.deauthorize() }
    }
}

/// The secret of a right, as it was saved: Apple's `LASecret`.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class LASecret: NSObject, @unchecked Sendable {
    private let right: LAPersistedRight

    init(_ right: LAPersistedRight) { self.right = right }

    /// The secret.
    /// - Throws: `LAError.authenticationFailed` unless the right is authorized (C-213), errSecItemNotFound if no secret was saved.
    public var rawData: Data { get async throws { try await RightCalls.run { [self] in try load() } } }

    /// Passes the secret or an error to `completion`, on a private queue.
    public func loadData(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        RightCalls.run(completion) { [self] in try load() }
    }

    private func load() throws -> Data {
        guard let sealed = right.gate.kept.secret else { throw KeychainCall.fault(errSecItemNotFound) }
        return try right.withPrivateKey { key in
            try KeychainCall.data { SecKeyCreateDecryptedData(key, StoredRight.encryption, NSData(data: sealed), $0) }
        }
    }
}
