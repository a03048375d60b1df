// The gate of a kept right: the access control of its key, judged by the enclave.

internal import Foundation
internal import VaubanSecurity
internal import Synchronization

final class KeyGate: RightGate {
    let kept: StoredRight
    /// Looked up once for each authorization. `Bound` is compared by its context, which it keeps.
    private let bound = Mutex<Bound?>(nil)

    private struct Bound: Sendable {
        let context: LAContext
        let key: SecKey
    }

    init(_ kept: StoredRight) { self.kept = kept }

    var kind: LAAuthenticationRequirement.Kind { kept.kind }

    func check() throws {
        try kind.policy.check()
        // Another program of this user's may have removed it.
        _ = try kept.privateKey(for: LAContext())
    }

    func ask(_ context: LAContext, _ reason: String, _ answer: @escaping @Sendable ((any Error)?) -> Void) {
        if !kind.hasFallback { context.localizedFallbackTitle = "" }
        RightCalls.begin { [self] in
            // Nobody is asked for a key that is gone.
            do { _ = try kept.privateKey(for: context) } catch { return answer(error) }
            context.evaluateAccessControl(kept.control, operation: .useKeySign, localizedReason: reason) { [self] _, error in
                answer(error ?? refusal(context))
            }
        }
    }

    /// What was shown may be of fingers that the key does not know, or for a key that will never work again; so it is tried, by an exchange
    /// whose result nobody sees.
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
                userInfo: [NSLocalizedDescriptionKey: "The key of the right does not take what was shown.", NSUnderlyingErrorKey: error])
        }
    }

    /// The key as an authorization of the right may use it.
    func key(for context: LAContext) throws -> SecKey {
        if let known = bound.withLock({ $0 }), known.context === context { return known.key }
        let key = try kept.privateKey(for: context)
        bound.withLock { $0 = Bound(context: context, key: key) }
        return key
    }
}
