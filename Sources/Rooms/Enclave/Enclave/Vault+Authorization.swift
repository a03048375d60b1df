// The evidence that an evaluation keeps for its context: only what later calls of that context need.

internal import Crypto
import FoundationEssentials
package import VaubanAccessPolicy
internal import VaubanLinuxHost
package import VaubanRefusal
import VaubanSecretBytes

/// The authorization of one context. It contains neither a passcode nor the passcode key, which would open everything, but the private
/// halves of the pairs that the passcode opens. For a fingerprint it contains only the enrollment: the vault has the keys that a
/// fingerprint may use, and erases them.
package struct AuthorizedEvidence: Sendable {
    /// The epoch in which the evidence is valid. A lock or a change of the keys ends it.
    let epoch: Int64
    /// The parameters of the passcode when it was entered.
    let passcode: StretchParameters?
    let keys: [HeldKey]
    let enrollment: [UInt8]?
}

extension Vault {
    /// The current epoch. It increases with each lock and each change of the keys.
    package var epoch: Int64 {
        state.withLock { state in
            state.applyExpirations(host, isUse: false)
            return state.epoch
        }
    }

    /// Throws if the keychain was locked, or its keys changed, since an epoch.
    package func checkUnchanged(since epoch: Int64) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host, isUse: false)
            try state.checkUnchanged(since: epoch)
        }
    }

    /// Returns the evidence to keep from what was gathered in an epoch. Throws if the keychain was locked meanwhile.
    package func authorized(by gathered: OperationEvidence, since epoch: Int64) throws(Refusal) -> AuthorizedEvidence {
        try state.withLock { (state) throws(Refusal) -> AuthorizedEvidence in
            state.applyExpirations(host)
            try state.checkUnchanged(since: epoch)
            try state.checkCurrent(gathered.earlier)
            var keys = gathered.factorKeys
            var passcode = gathered.earlier?.passcode
            if let bag = state.keybag {
                switch gathered.passcodeKey {
                case .some(let key):
                    try bag.checkPasscodeUnchanged(since: key)
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

    /// Returns the evidence of an authorization as if it had just been presented; nil if it is no longer valid.
    package func evidence(of authorized: AuthorizedEvidence) -> OperationEvidence? {
        state.withLock { state in
            state.applyExpirations(host, isUse: false)
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

    /// Returns the fingerprint that unlocked the device, if that was at most `seconds` ago on the clock that includes sleep.
    package func fingerThatUnlocked(within seconds: Int64) -> Evidence.Finger? {
        state.withLock { state in
            state.applyExpirations(host, isUse: false)
            let now = host.clock.boot
            guard let finger = state.unlockingFinger, now >= finger.at, now - finger.at <= UInt64(max(seconds, 0)) * 1_000_000_000 else {
                return nil
            }
            return finger
        }
    }

    /// Identifies the current enrollment to one application. A new enrollment, even of the same fingers, gets another value, and two
    /// applications cannot find out by comparing their values that they run on the same device. Nil if nothing is enrolled.
    package func domainState(for application: String) -> [UInt8]? {
        state.withLock { state in
            guard let bag = state.keybag, let enrollment = bag.enrollment else { return nil }
            // The generation of the enrollment never leaves the enclave, so no one else can compute this value.
            let key = SymmetricKey(data: Data(bag.identifier + enrollment.generation + enrollment.fingers))
            return Array(HMAC<SHA256>.authenticationCode(for: Data("vauban domain state v1\0".utf8) + Data(application.utf8), using: key))
        }
    }
}
