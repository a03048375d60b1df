// What an evaluation leaves behind for the context that asked: as much as later calls of that context need, and no more.

internal import Crypto
import Foundation
package import VaubanAccessPolicy
internal import VaubanLinuxHost
import VaubanSecretBytes

/// What one context was authorised by. It holds neither a passcode nor the key that a passcode gives, which opens everything,
/// but the private halves of the pairs that the passcode stands for. A finger leaves nothing here but its enrolment: what it
/// may use lies in the vault, and ends there.
package struct AuthorisedEvidence: Sendable {
    /// It is worth nothing in a later one: a lock ended it, or the keys changed.
    let epoch: Int64
    /// The passcode of then.
    let passcode: StretchParameters?
    let keys: [HeldKey]
    let enrolment: [UInt8]?
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
    package func authorised(by gathered: GatheredEvidence, since epoch: Int64) throws(Refusal) -> AuthorisedEvidence {
        try state.withLock { (state) throws(Refusal) -> AuthorisedEvidence in
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
            return AuthorisedEvidence(epoch: epoch, passcode: passcode, keys: keys, enrolment: gathered.evidence.finger?.enrolment)
        }
    }

    /// As if it were shown now; nil when it counts no more.
    package func evidence(of authorised: AuthorisedEvidence) -> GatheredEvidence? {
        state.withLock { state in
            state.settle(host, isUse: false)
            guard state.epoch == authorised.epoch else { return nil }
            let now = host.clock.boot
            let gathered = GatheredEvidence()
            gathered.earlier = GatheredEvidence.Earlier(epoch: authorised.epoch, passcode: authorised.passcode)
            if let passcode = authorised.passcode {
                guard state.keybag?.passcode == passcode else { return nil }
                gathered.evidence.passcode = now
                gathered.factorKeys = authorised.keys
            }
            gathered.evidence.finger = authorised.enrolment.map { Evidence.Finger(at: now, enrolment: $0) }
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

    /// Stands for the present enrolment towards one application. Another enrolment, even of the same fingers, has another, and
    /// two applications cannot tell by theirs that they are at the same device. Nil when nothing is enrolled.
    package func domainState(for application: String) -> [UInt8]? {
        state.withLock { state in
            guard let bag = state.keybag, let enrolment = bag.enrolment else { return nil }
            // The name of the enrolment never leaves the enclave, so nobody can make the same value of it.
            let key = SymmetricKey(data: Data(bag.identifier + enrolment.generation + enrolment.fingers))
            return Array(HMAC<SHA256>.authenticationCode(for: Data("vauban domain state v1\0".utf8) + Data(application.utf8), using: key))
        }
    }
}
