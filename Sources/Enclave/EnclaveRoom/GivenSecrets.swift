// Passcodes and recovery keys while a request uses them.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanSecretBytes

/// The secrets of one challenge, in the order in which the request names them; erased with the request.
final class GivenSecrets {
    private let secrets: [HeldSecret?]

    init(_ secrets: [HeldSecret?]) { self.secrets = secrets }

    func passcode(_ index: Int) throws(Refusal) -> SecretBytes {
        guard let held = secrets[index] else { throw Refusal(.internalFault) }
        return held.secret.duplicate()
    }

    func recoveryKey(_ index: Int) throws(Refusal) -> RecoveryKey {
        let typed = try passcode(index)
        do throws(RecoveryKey.Fault) { return try RecoveryKey(typed: typed) } catch {
            throw Refusal(.authenticationFailed, "the recovery key has eight groups of six digits, each a multiple of eleven")
        }
    }

    /// Lends a recovery key that may be absent.
    func withRecoveryKey(_ index: Int, _ body: (borrowing RecoveryKey?) throws(Refusal) -> Void) throws(Refusal) {
        guard secrets[index] != nil else { return try body(nil) }
        let key: RecoveryKey? = try recoveryKey(index)
        try body(key)
    }
}

extension RequestLine {
    /// Opens the secrets of one challenge, which is used up by it.
    func unseal(
        _ challenge: PasscodeChallenge, _ purpose: PasscodePurpose, _ sealed: [SealedPasscode?], _ caller: Peer
    ) throws(Refusal) -> GivenSecrets {
        guard challenge.purpose == purpose else { throw Refusal(.badParameter, "the challenge is for something else") }
        try room.inbox.use(challenge, for: caller.uid)
        var opened: [HeldSecret?] = []
        for seal in sealed {
            guard let seal else { opened.append(nil); continue }
            opened.append(HeldSecret(try room.inbox.unseal(seal, challenge, of: caller.uid)))
        }
        return GivenSecrets(opened)
    }

    /// Runs what a passcode decides, and keeps for the person who brought a wrong one.
    func guessing(_ purpose: PasscodePurpose, _ caller: Peer, _ vault: Vault, _ body: () throws(Refusal) -> Void) throws(Refusal) {
        do throws(Refusal) {
            try body()
        } catch {
            if error.reason == .authenticationFailed, error.triesLeft != nil {
                let who = room.witness.executable(of: caller)?.path ?? "an unknown program"
                vault.note(WrongGuess(date: room.host.clock.referenceMicroseconds, purpose: purpose, who: who))
            }
            throw error
        }
    }
}
