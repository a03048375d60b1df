// What a person does with their passcode, their recovery key and their fingers, besides unlocking.

package import VaubanAccessPolicy
import VaubanAuthenticationWire
package import VaubanLinuxHost
package import VaubanSecretBytes

extension AuthenticationClient {
    /// Removes the passcode: items of the passcode class are gone for ever, the others open without one.
    package func removePasscode(_ passcode: borrowing SecretBytes) throws(Refusal) {
        let (challenge, card) = try challenge(.remove)
        try done(.removePasscode(challenge, try SealedPasscode(passcode, to: card, for: challenge, allowing: .removePasscode)))
    }

    /// Makes the keychain unreadable for ever and begins a new one. Without a passcode only where none is set, or after
    /// ten wrong ones in a row.
    package func erase(_ passcode: borrowing SecretBytes?) throws(Refusal) {
        let (challenge, card) = try challenge(.erase)
        switch passcode {
        case .some(let passcode): try done(.erase(challenge, try SealedPasscode(passcode, to: card, for: challenge, allowing: .erase)))
        case .none: try done(.erase(challenge, nil))
        }
    }

    /// Sets a passcode with a recovery key in the place of the old one. The used key is worth nothing afterwards.
    package func recover(
        with recoveryKey: borrowing RecoveryKey, to new: borrowing SecretBytes, newRecoveryKey: borrowing RecoveryKey?
    ) throws(Refusal) {
        let (challenge, card) = try challenge(.recover)
        let sealedNew = try SealedPasscode(new, to: card, for: challenge)
        let sealedNext = try SealedPasscode(newRecoveryKey, to: card, for: challenge)
        let ceremony = CeremonyBinding.recover(new: sealedNew, newRecoveryKey: sealedNext)
        let sealedKey = try SealedPasscode(recoveryKey.digits, to: card, for: challenge, allowing: ceremony)
        try done(.recover(challenge, recoveryKey: sealedKey, new: sealedNew, newRecoveryKey: sealedNext))
    }

    /// Another recovery key, or none any more.
    package func setRecoveryKey(_ recoveryKey: borrowing RecoveryKey?, passcode: borrowing SecretBytes) throws(Refusal) {
        let (challenge, card) = try challenge(.recoveryKey)
        let sealedKey = try SealedPasscode(recoveryKey, to: card, for: challenge)
        let sealed = try SealedPasscode(passcode, to: card, for: challenge, allowing: .setRecoveryKey(sealedKey))
        try done(.setRecoveryKey(challenge, sealed, recoveryKey: sealedKey))
    }

    /// When the keychain locks by itself.
    package func configure(_ settings: LockSettings, passcode: borrowing SecretBytes) throws(Refusal) {
        let (challenge, card) = try challenge(.configure)
        try done(.configure(challenge, try SealedPasscode(passcode, to: card, for: challenge, allowing: .configure(settings)), settings))
    }

    /// Has the reader learn a finger; `waiting` is called when it is the person's turn. With `unlocks`, a matched finger
    /// unlocks from now on.
    package func enrol(_ passcode: borrowing SecretBytes, unlocks: Bool, waiting: Waiting? = nil) throws(Refusal) {
        let (challenge, card) = try challenge(.enrol)
        let sealed = try SealedPasscode(passcode, to: card, for: challenge, allowing: .enrol(unlocks: unlocks))
        try done(.enrol(challenge, sealed, unlocks: unlocks), waiting)
    }

    package func forgetFingers(_ passcode: borrowing SecretBytes, waiting: Waiting? = nil) throws(Refusal) {
        let (challenge, card) = try challenge(.enrol)
        try done(.forgetFingers(challenge, try SealedPasscode(passcode, to: card, for: challenge, allowing: .forgetFingers)), waiting)
    }

    /// Unlocks by a finger, where the person chose that at enrolment.
    package func unlockByFinger(waiting: Waiting? = nil, cancellation: CallCancellation? = nil) throws(Refusal) {
        try done(.unlockByFinger, waiting, cancellation)
    }
}

extension SealedPasscode {
    /// A recovery key that may be absent.
    init?(_ recoveryKey: borrowing RecoveryKey?, to card: EnclaveKeyCard, for challenge: PasscodeChallenge) throws(Refusal) {
        switch recoveryKey {
        case .some(let key): self = try SealedPasscode(key.digits, to: card, for: challenge)
        case .none: return nil
        }
    }
}
