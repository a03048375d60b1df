// Requests that change what opens a keychain, or when it locks. The secret that authorizes each was unsealed for exactly that request.

import Enclave
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

    func configure(_ settings: LockSettings, _ given: UnsealedSecrets, for caller: Peer, in vault: Vault) throws(Refusal) {
        try withFailedAttemptRecorded(for: .configure, by: caller, in: vault) { () throws(Refusal) in
            try vault.configure(settings, passcode: given.passcode(0), for: requester(for: caller))
        }
        _ = vault.applyExpirations()
        room.reschedule()
    }
}
