// The gate of a persisted right: the access control of its key, which the enclave enforces.

internal import Foundation
internal import VaubanSecurity
internal import Synchronization

final class KeyGate: RightGate {
    let kept: StoredRight
    /// Looked up once for each authorization. `Bound` retains its context and is compared by it.
    private let bound = Mutex<Bound?>(nil)

    private struct Bound: Sendable {
        let context: LAContext
        let key: SecKey
    }

    init(_ kept: StoredRight) { self.kept = kept }

    var kind: LAAuthenticationRequirement.Kind { kept.kind }

    func check() throws {
        try kind.policy.check()
        // Another program of this user may have removed it.
        _ = try kept.privateKey(for: LAContext())
    }

    func ask(in context: LAContext, reason: String, answer: @escaping @Sendable ((any Error)?) -> Void) {
        if !kind.hasFallback { context.localizedFallbackTitle = "" }
        RightCalls.begin { [self] in
            // Show no prompt for a key that no longer exists.
            do { _ = try kept.privateKey(for: context) } catch { return answer(error) }
            context.evaluateAccessControl(kept.control, operation: .useKeySign, localizedReason: reason) { [self] _, error in
                answer(error ?? refusal(context))
            }
        }
    }

    /// The factor may be a fingerprint that the key does not accept, or the key may be permanently invalid. A key exchange, whose result is
    /// discarded, shows which.
    private func refusal(_ context: LAContext) -> (any Error)? {
        context.interactionNotAllowed = true
        do {
            let mine = try KeychainCall.object {
                SecKeyCreateRandomKey(
                    [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256] as [CFString: Any] as CFDictionary, $0)
            }
            guard let peer = SecKeyCopyPublicKey(mine) else { throw KeychainCall.fault(errSecInternal) }
            let key = try key(for: context)
            _ = try KeychainCall.data {
                SecKeyCopyKeyExchangeResult(key, .ecdhKeyExchangeStandard, peer, [:] as [CFString: Any] as CFDictionary, $0)
            }
            return nil
        } catch {
            return LAError(
                .authenticationFailed,
                userInfo: [
                    NSLocalizedDescriptionKey: "The key of the right does not accept this authentication.", NSUnderlyingErrorKey: error,
                ])
        }
    }

    /// Returns the key for use with an authorization of the right.
    func key(for context: LAContext) throws -> SecKey {
        if let known = bound.withLock({ $0 }), known.context === context { return known.key }
        let key = try kept.privateKey(for: context)
        bound.withLock { $0 = Bound(context: context, key: key) }
        return key
    }
}
