// What a user does with their passcode, their recovery key and their fingers, besides unlocking.

package import VaubanLinuxHost
package import VaubanPasscode
package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanUserModel
import VaubanUserWire

extension AuthenticationClient {
    /// Removes the passcode: items of the passcode class are gone for ever, the others open without one.
    package func removePasscode(_ passcode: borrowing SecretBytes) throws(Refusal) {
        try request(.removePasscode, authorizedBy: passcode)
    }

    /// Makes the keychain unreadable for ever and begins a new one. Without a passcode only where none is set, or after
    /// ten wrong ones in a row.
    package func erase(_ passcode: borrowing SecretBytes?) throws(Refusal) {
        switch passcode {
        case .some(let passcode): try request(.erase, authorizedBy: passcode)
        case .none: try done(.eraseWithoutPasscode(try challenge(.erase).challenge))
        }
    }

    /// Sets a passcode with a recovery key in the place of the old one. The used key is worth nothing afterwards.
    package func recover(
        with recoveryKey: borrowing RecoveryKey, to new: borrowing SecretBytes, newRecoveryKey: borrowing RecoveryKey?
    ) throws(Refusal) {
        let (challenge, card) = try challenge(.recover)
        let sealedNew = try SealedPasscode(new, to: card, for: challenge)
        let sealedNext = try SealedPasscode(newRecoveryKey, to: card, for: challenge)
        try send(.recover(new: sealedNew, newRecoveryKey: sealedNext), authorizedBy: recoveryKey.digits, challenge, card)
    }

    /// Another recovery key, or none any more.
    package func setRecoveryKey(_ recoveryKey: borrowing RecoveryKey?, passcode: borrowing SecretBytes) throws(Refusal) {
        let (challenge, card) = try challenge(.recoveryKey)
        let sealedKey = try SealedPasscode(recoveryKey, to: card, for: challenge)
        try send(.setRecoveryKey(sealedKey), authorizedBy: passcode, challenge, card)
    }

    /// When the keychain locks by itself.
    package func configure(_ settings: LockSettings, passcode: borrowing SecretBytes) throws(Refusal) {
        try request(.configure(settings), authorizedBy: passcode)
    }

    /// Enrolls a fingerprint; `waiting` is called when it is the user's turn. With `unlocks`, a matched finger
    /// unlocks from now on.
    package func enrol(_ passcode: borrowing SecretBytes, unlocks: Bool, waiting: Waiting? = nil) throws(Refusal) {
        try request(.enrol(unlocks: unlocks), authorizedBy: passcode, waiting)
    }

    package func forgetFingers(_ passcode: borrowing SecretBytes, waiting: Waiting? = nil) throws(Refusal) {
        try request(.forgetFingers, authorizedBy: passcode, waiting)
    }

    /// The names of the fingers that the reader knows of this user.
    package func fingers(_ passcode: borrowing SecretBytes) throws(Refusal) -> [String] {
        guard case .fingers(let names) = try request(.listFingers, authorizedBy: passcode) else { throw Self.unexpected() }
        return names
    }

    /// Unlocks by a finger, where the user chose that at enrollment.
    package func unlockByFinger(waiting: Waiting? = nil, cancellation: CallCancellation? = nil) throws(Refusal) {
        try done(.unlockByFinger, waiting, cancellation)
    }

    /// Asks for a challenge, and sends the request with the secret that authorizes it.
    @discardableResult
    private func request(
        _ request: CredentialRequest, authorizedBy secret: borrowing SecretBytes, _ waiting: Waiting? = nil
    ) throws(Refusal) -> UserAnswer {
        let (challenge, card) = try challenge(request.purpose)
        return try send(request, authorizedBy: secret, challenge, card, waiting)
    }

    /// Seals the secret that authorizes a request last, bound to all the rest of it.
    @discardableResult
    func send(
        _ request: CredentialRequest, authorizedBy secret: borrowing SecretBytes, _ challenge: PasscodeChallenge, _ card: EnclaveKeyCard,
        _ waiting: Waiting? = nil
    ) throws(Refusal) -> UserAnswer {
        let authority = try SealedPasscode(secret, to: card, for: challenge, authorizing: .credential(request))
        return try call(.credential(request, challenge, authority: authority), waiting).answer
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
