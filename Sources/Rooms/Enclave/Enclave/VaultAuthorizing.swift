// What an evaluation leaves behind for the context that asked: as much as later calls of that context need, and no more.

internal import Crypto
import Foundation
package import VaubanAccessPolicy
internal import VaubanLinuxHost
package import VaubanRefusal
import VaubanSecretBytes

/// What one context was authorized by. It holds neither a passcode nor the key that a passcode gives, which opens everything,
/// but the private halves of the pairs that the passcode stands for. A finger leaves nothing here but its enrollment: what it
/// may use lies in the vault, and ends there.
package struct AuthorizedEvidence: Sendable {
    /// It is worth nothing in a later one: a lock ended it, or the keys changed.
    let epoch: Int64
    /// The passcode of then.
    let passcode: StretchParameters?
    let keys: [HeldKey]
    let enrollment: [UInt8]?
}

extension Vault {
    /// Grows with each lock, and when the keys change.
    package var epoch: Int64 {
        state.withLock { state in
            state.settle(host, isUse: false)
            return state.epoch
        }
    }

    /// Keeps what was shown in an epoch. A lock meanwhile wins.
    package func authorized(by gathered: OperationEvidence, since epoch: Int64) throws(Refusal) -> AuthorizedEvidence {
        try state.withLock { (state) throws(Refusal) -> AuthorizedEvidence in
            state.settle(host)
            guard state.epoch == epoch else { throw Refusal(.locked, "the keychain was locked or changed meanwhile") }
            try state.throwIfOver(gathered.earlier)
            var keys = gathered.factorKeys
            var passcode = gathered.earlier?.passcode
            if let bag = state.keybag {
                switch gathered.passcodeKey {
                case .some(let key):
                    try bag.throwIfChanged(since: key)
                    passcode = bag.passcode
                    keys = []
                    for slot in bag.slots where [.passcodeFactor, .presenceFactor].contains(slot.purpose) {
                        keys.append(HeldKey(purpose: slot.purpose, generation: slot.generation, key: try bag.open(slot, with: key)))
                    }
                case .none: break
                }
            }
            return AuthorizedEvidence(epoch: epoch, passcode: passcode, keys: keys, enrollment: gathered.evidence.finger?.enrollment)
        }
    }

    /// As if it were shown now; nil when it counts no more.
    package func evidence(of authorized: AuthorizedEvidence) -> OperationEvidence? {
        state.withLock { state in
            state.settle(host, isUse: false)
            guard state.epoch == authorized.epoch else { return nil }
            let now = host.clock.boot
            let gathered = OperationEvidence()
            gathered.earlier = OperationEvidence.Earlier(epoch: authorized.epoch, passcode: authorized.passcode)
            if let passcode = authorized.passcode {
                guard state.keybag?.passcode == passcode else { return nil }
                gathered.evidence.passcode = now
                gathered.factorKeys = authorized.keys
            }
            gathered.evidence.finger = authorized.enrollment.map { Evidence.Finger(at: now, enrollment: $0) }
            return gathered
        }
    }

    /// The finger that unlocked the device, if that is not longer ago by the clock that goes on while the machine sleeps.
    package func fingerThatUnlocked(within seconds: Int64) -> Evidence.Finger? {
        state.withLock { state in
            state.settle(host, isUse: false)
            let now = host.clock.boot
            guard let finger = state.unlockingFinger, now >= finger.at, now - finger.at <= UInt64(max(seconds, 0)) * 1_000_000_000 else {
                return nil
            }
            return finger
        }
    }

    /// Stands for the present enrollment towards one application. Another enrollment, even of the same fingers, has another, and
    /// two applications cannot tell by theirs that they are at the same device. Nil when nothing is enrolled.
    package func domainState(for application: String) -> [UInt8]? {
        state.withLock { state in
            guard let bag = state.keybag, let enrollment = bag.enrollment else { return nil }
            // The name of the enrollment never leaves the enclave, so nobody can make the same value of it.
            let key = SymmetricKey(data: Data(bag.identifier + enrollment.generation + enrollment.fingers))
            return Array(HMAC<SHA256>.authenticationCode(for: Data("vauban domain state v1\0".utf8) + Data(application.utf8), using: key))
        }
    }
}
