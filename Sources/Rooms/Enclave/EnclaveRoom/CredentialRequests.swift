// The requests that change what opens a keychain, or when it locks. What authorizes them has been unsealed, for just this request.

import Enclave
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel
import VaubanUserWire

extension RequestConnection {
    func unlock(_ challenge: PasscodeChallenge, _ sealed: SealedPasscode, for caller: Peer, in vault: Vault) throws(Refusal) {
        let given = try unseal(challenge, toUnlock: sealed, caller)
        try guessing(.unlock, caller, vault) { () throws(Refusal) in try vault.unlock(given.passcode(0), for: requester(for: caller)) }
    }

    func setPasscode(_ given: GivenSecrets, for caller: Peer, in vault: Vault) throws(Refusal) {
        try given.withRecoveryKey(1) { (key) throws(Refusal) in
            try vault.setPasscode(given.passcode(0), recoveryKey: key, for: requester(for: caller))
        }
    }

    func changePasscode(_ given: GivenSecrets, rolls: Bool, for caller: Peer, in vault: Vault) throws(Refusal) {
        try guessing(.change, caller, vault) { () throws(Refusal) in
            try vault.changePasscode(from: given.passcode(0), to: given.passcode(1), rolls: rolls, for: requester(for: caller))
        }
    }

    func removePasscode(_ given: GivenSecrets, for caller: Peer, in vault: Vault) throws(Refusal) {
        try guessing(.remove, caller, vault) { () throws(Refusal) in
            try vault.removePasscode(given.passcode(0), for: requester(for: caller))
        }
    }

    func erase(_ given: GivenSecrets, for caller: Peer, in vault: Vault) throws(Refusal) {
        try guessing(.erase, caller, vault) { () throws(Refusal) in
            let passcode: SecretBytes? = try given.passcode(0)
            try vault.erase(passcode, for: requester(for: caller))
        }
    }

    func recover(_ given: GivenSecrets, for caller: Peer, in vault: Vault) throws(Refusal) {
        let typed = try given.recoveryKey(0)
        try given.withRecoveryKey(2) { (next) throws(Refusal) in
            try vault.recover(with: typed, to: given.passcode(1), newRecoveryKey: next, for: requester(for: caller))
        }
    }

    func setRecoveryKey(_ given: GivenSecrets, for caller: Peer, in vault: Vault) throws(Refusal) {
        try guessing(.recoveryKey, caller, vault) { () throws(Refusal) in
            try given.withRecoveryKey(1) { (key) throws(Refusal) in
                try vault.setRecoveryKey(key, passcode: given.passcode(0), for: requester(for: caller))
            }
        }
    }

    func configure(_ settings: LockSettings, _ given: GivenSecrets, for caller: Peer, in vault: Vault) throws(Refusal) {
        try guessing(.configure, caller, vault) { () throws(Refusal) in
            try vault.configure(settings, passcode: given.passcode(0), for: requester(for: caller))
        }
        _ = vault.settle()
        room.reschedule()
    }
}
