// Requests about the user's passcode, recovery key and fingerprints, apart from unlocking.

package import VaubanLinuxHost
package import VaubanPasscode
package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanUserModel
import VaubanUserWire

extension AuthenticationClient {
    /// Removes the passcode. Items of the when-passcode-set class are erased; all others open without a passcode.
    package func removePasscode(_ passcode: borrowing SecretBytes) throws(Refusal) {
        try request(.removePasscode, authorizedBy: passcode)
    }

    /// Erases all class keys, which makes the keychain's items unreadable for good, and starts a new keychain. The passcode may be nil only
    /// if none is set, or after ten wrong attempts in a row.
    package func erase(_ passcode: borrowing SecretBytes?) throws(Refusal) {
        switch passcode {
        case .some(let passcode): try request(.erase, authorizedBy: passcode)
        case .none: try done(.eraseWithoutPasscode(try challenge(.erase).challenge))
        }
    }

    /// Replaces the passcode, authorized by the recovery key, and sets a new recovery key. The used one becomes invalid.
    package func recover(
        with recoveryKey: borrowing RecoveryKey, to new: borrowing SecretBytes, newRecoveryKey: borrowing RecoveryKey?
    ) throws(Refusal) {
        let (challenge, card) = try challenge(.recover)
        let sealedNew = try SealedPasscode(new, to: card, for: challenge)
        let sealedNext = try SealedPasscode(newRecoveryKey, to: card, for: challenge)
        try send(.recover(new: sealedNew, newRecoveryKey: sealedNext), authorizedBy: recoveryKey.digits, challenge: challenge, card: card)
    }

    /// Sets a recovery key. The previous one stays valid until the new one is confirmed. With nil, no recovery key is valid any more.
    package func setRecoveryKey(_ recoveryKey: borrowing RecoveryKey?, passcode: borrowing SecretBytes) throws(Refusal) {
        let (challenge, card) = try challenge(.recoveryKey)
        let sealedKey = try SealedPasscode(recoveryKey, to: card, for: challenge)
        try send(.setRecoveryKey(sealedKey), authorizedBy: passcode, challenge: challenge, card: card)
    }

    /// Revokes the previous recovery key, once the user has the newest one. Throws if the given key is not the newest.
    package func confirmRecoveryKey(_ recoveryKey: borrowing RecoveryKey) throws(Refusal) {
        try request(.confirmRecoveryKey, authorizedBy: recoveryKey.digits)
    }

    /// Changes when the keychain locks automatically.
    package func configure(_ settings: LockSettings, passcode: borrowing SecretBytes) throws(Refusal) {
        try request(.configure(settings), authorizedBy: passcode)
    }

    /// Enrolls a fingerprint; calls `waiting` when the user should touch the reader. With `unlocks`, a matched fingerprint unlocks the
    /// keychain from now on.
    package func enroll(_ passcode: borrowing SecretBytes, unlocks: Bool, waiting: Waiting? = nil) throws(Refusal) {
        try request(.enroll(unlocks: unlocks), authorizedBy: passcode, waiting)
    }

    package func forgetFingers(_ passcode: borrowing SecretBytes, waiting: Waiting? = nil) throws(Refusal) {
        try request(.forgetFingers, authorizedBy: passcode, waiting)
    }

    /// Returns the names of the fingers that the reader has enrolled for this user.
    package func fingers(_ passcode: borrowing SecretBytes) throws(Refusal) -> [String] {
        guard case .fingers(let names) = try request(.listFingers, authorizedBy: passcode) else { throw Self.unexpected() }
        return names
    }

    /// Unlocks with a fingerprint, if the user chose that at enrollment.
    package func unlockByFinger(waiting: Waiting? = nil, cancellation: CallCancellation? = nil) throws(Refusal) {
        try done(.unlockByFinger, waiting: waiting, cancellation: cancellation)
    }

    /// Unlocks by a prompt for the passcode, wherever prompts of this user appear. Returns at once if the keychain is unlocked.
    package func unlockByPrompt(
        reason: String, waiting: Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) {
        try done(.unlockByPrompt(reason: reason), waiting: waiting, cancellation: cancellation)
    }

    /// Makes a change by a prompt for the passcode, wherever prompts of this user appear. Enrolling then waits at the reader, whose hints
    /// `waiting` receives too.
    package func changeByPrompt(
        _ change: CredentialChange, waiting: Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) {
        try done(.changeByPrompt(change), waiting: waiting, cancellation: cancellation)
    }

    /// Requests a challenge, then sends the request with the secret that authorizes it.
    @discardableResult
    private func request(
        _ request: CredentialRequest, authorizedBy secret: borrowing SecretBytes, _ waiting: Waiting? = nil
    ) throws(Refusal) -> UserAnswer {
        let (challenge, card) = try challenge(request.purpose)
        return try send(request, authorizedBy: secret, challenge: challenge, card: card, waiting: waiting)
    }

    /// Seals the secret that authorizes a request last, so that it is bound to all other fields.
    @discardableResult
    func send(
        _ request: CredentialRequest, authorizedBy secret: borrowing SecretBytes, challenge: PasscodeChallenge, card: EnclaveKeyCard,
        waiting: Waiting? = nil
    ) throws(Refusal) -> UserAnswer {
        let authority = try SealedPasscode(secret, to: card, for: challenge, authorizing: .credential(request))
        return try call(.credential(request, challenge, authority: authority), waiting: waiting).answer
    }
}

extension SealedPasscode {
    /// Seals a recovery key; nil if there is none.
    init?(_ recoveryKey: borrowing RecoveryKey?, to card: EnclaveKeyCard, for challenge: PasscodeChallenge) throws(Refusal) {
        switch recoveryKey {
        case .some(let key): self = try SealedPasscode(key.digits, to: card, for: challenge)
        case .none: return nil
        }
    }
}
