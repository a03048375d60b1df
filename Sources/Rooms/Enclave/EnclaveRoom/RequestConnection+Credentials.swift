// Requests that change what unlocks a keychain, or when it locks. The secret that authorizes each was unsealed for exactly that request.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel
import VaubanUserWire

extension RequestConnection {
    func unlock(_ challenge: PasscodeChallenge, _ sealed: SealedPasscode, for caller: Peer, in vault: Vault) throws(Refusal) {
        let given = try unseal(challenge, toUnlock: sealed, caller)
        try withFailedAttemptRecorded(for: .unlock, by: caller, in: vault) { () throws(Refusal) in
            try vault.unlock(given.passcode(0), for: requester(for: caller))
        }
    }

    /// Prompts for the passcode; the prompt unlocks with its key. A fingerprint cannot be used here, since it opens no class key without
    /// the reader's key.
    func unlockByPrompt(_ reason: String, for caller: Peer, in vault: Vault) throws(Refusal) {
        guard !reason.isEmpty else { throw Refusal(.badParameter, "The request needs a reason") }
        if vault.status.lock == .unlocked { return }
        let gathered = try gather(
            Operation(kind: .unlock, requirement: Requirement(methods: [[.passcode]]), protection: .always, reason: reason),
            for: caller, in: vault)
        guard gathered.evidence.passcode != nil else { throw Refusal(.authenticationFailed, "no passcode was entered") }
        release()
    }

    func setPasscode(_ given: UnsealedSecrets, for caller: Peer, in vault: Vault) throws(Refusal) {
        try given.withRecoveryKey(1) { (key) throws(Refusal) in
            try vault.setPasscode(given.passcode(0), recoveryKey: key, for: requester(for: caller))
        }
    }

    func changePasscode(_ given: UnsealedSecrets, rolls: Bool, for caller: Peer, in vault: Vault) throws(Refusal) {
        try withFailedAttemptRecorded(for: .change, by: caller, in: vault) { () throws(Refusal) in
            try vault.changePasscode(from: given.passcode(0), to: given.passcode(1), rolls: rolls, for: requester(for: caller))
        }
    }

    func removePasscode(_ given: UnsealedSecrets, for caller: Peer, in vault: Vault) throws(Refusal) {
        try withFailedAttemptRecorded(for: .remove, by: caller, in: vault) { () throws(Refusal) in
            try vault.removePasscode(given.passcode(0), for: requester(for: caller))
        }
    }

    func erase(_ given: UnsealedSecrets, for caller: Peer, in vault: Vault) throws(Refusal) {
        try withFailedAttemptRecorded(for: .erase, by: caller, in: vault) { () throws(Refusal) in
            let passcode: SecretBytes? = try given.passcode(0)
            try vault.erase(passcode, for: requester(for: caller))
        }
    }

    /// Erases the keychain without its passcode: if none is set, or after ten failed attempts in a row.
    func eraseWithoutPasscode(_ challenge: PasscodeChallenge, for caller: Peer, in vault: Vault) throws(Refusal) {
        try use(challenge, purpose: .erase, caller: caller)
        try vault.erase(nil)
    }

    func recover(_ given: UnsealedSecrets, for caller: Peer, in vault: Vault) throws(Refusal) {
        let typed = try given.recoveryKey(0)
        try given.withRecoveryKey(2) { (next) throws(Refusal) in
            try vault.recover(with: typed, to: given.passcode(1), newRecoveryKey: next, for: requester(for: caller))
        }
    }

    func setRecoveryKey(_ given: UnsealedSecrets, for caller: Peer, in vault: Vault) throws(Refusal) {
        try withFailedAttemptRecorded(for: .recoveryKey, by: caller, in: vault) { () throws(Refusal) in
            try given.withRecoveryKey(1) { (key) throws(Refusal) in
                try vault.setRecoveryKey(key, passcode: given.passcode(0), for: requester(for: caller))
            }
        }
    }

    func confirmRecoveryKey(_ given: UnsealedSecrets, in vault: Vault) throws(Refusal) {
        let key = try given.recoveryKey(0)
        try vault.confirmRecoveryKey(key)
    }

    func configure(_ settings: LockSettings, _ given: UnsealedSecrets, for caller: Peer, in vault: Vault) throws(Refusal) {
        try withFailedAttemptRecorded(for: .configure, by: caller, in: vault) { () throws(Refusal) in
            try vault.configure(settings, passcode: given.passcode(0), for: requester(for: caller))
        }
        applySettings(to: vault)
    }

    /// Prompts for the passcode for a change, and makes the change with the passcode's key. A fingerprint is not accepted, as for every
    /// change of credentials. A lock voids earlier evidence, as in an evaluation.
    func changeByPrompt(_ change: CredentialChange, for caller: Peer, in vault: Vault) throws(Refusal) {
        try checkChangesByPrompt(caller)
        let prepared = try vault.prepare(change)
        let secretChange = SecretChange.of(prepared, in: vault, for: requester(for: caller))
        let gathered = try gather(
            Operation(
                kind: .changeCredential, requirement: Requirement(methods: [[.passcode]]), protection: .always, reason: nil,
                change: change, secretChange: secretChange),
            for: caller, in: vault)
        if let secretChange {
            guard secretChange.isMade else { throw Refusal(.authenticationFailed, "no passcode was entered") }
            return release()
        }
        try vault.checkUnchanged(since: prepared.epoch)
        release()
        guard let key = gathered.passcodeKey.take() else { throw Refusal(.authenticationFailed, "no passcode was entered") }
        try make(prepared, with: key, for: caller, in: vault)
    }

    /// Throws if programs are distinguished and the caller is neither the command line nor one of its programs, such as the desktop
    /// application: any other program could only try to have the user approve a change of its own choice.
    private func checkChangesByPrompt(_ caller: Peer) throws(Refusal) {
        guard room.distinguishesPrograms, !(identity ?? identify(caller)).throughCommandLine else { return }
        throw Refusal(.notAllowedHere, "Settings are changed with the vauban command, or in its desktop application")
    }

    private func make(
        _ prepared: PreparedChange, with key: consuming SecretBytes, for caller: Peer, in vault: Vault
    ) throws(Refusal) {
        switch prepared.change {
        case .configure(let before, let after):
            try vault.configure(after, replacing: before, passcodeKey: key, since: prepared.epoch)
            applySettings(to: vault)
        case .enroll(let unlocks): try enroll(with: key, unlocks: unlocks, since: prepared.epoch, for: caller, in: vault)
        case .forgetFingers: try forgetFingers(with: key, since: prepared.epoch, for: caller, in: vault)
        case .endRecoveryKey: try vault.endRecoveryKey(prepared, passcodeKey: key)
        // These changes are made during the prompt.
        case .changePasscode, .makeRecoveryKey: throw Refusal(.internalError)
        }
    }

    private func applySettings(to vault: Vault) {
        _ = vault.applyExpirations()
        room.reschedule()
    }
}
