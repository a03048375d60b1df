// Passcodes and recovery keys while a request uses them.

import Enclave
import EnclaveWire
import VaubanLinuxHost
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel
import VaubanUserWire

/// The secrets of one challenge: the one that authorizes the request, then the others in the order in which it names them;
/// erased with the request.
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

extension RequestConnection {
    /// Opens the secrets of one challenge, which is used up by it: first the one that authorizes the request, which opens for
    /// just this request, then those that the request names. A request that was altered on its way ends here, before
    /// anything is guessed or changed.
    func unseal(
        _ challenge: PasscodeChallenge, _ authority: SealedPasscode, authorizing request: CredentialRequest, _ caller: Peer
    ) throws(Refusal) -> GivenSecrets {
        try use(challenge, request.purpose, caller)
        var opened = [try open(authority, challenge, caller, authorizing: .credential(request))]
        for other in request.otherSecrets { opened.append(try open(other, challenge, caller, authorizing: nil)) }
        return GivenSecrets(opened)
    }

    /// Opens the passcode of an unlock: its challenge says all that it allows.
    func unseal(_ challenge: PasscodeChallenge, toUnlock passcode: SealedPasscode, _ caller: Peer) throws(Refusal) -> GivenSecrets {
        try use(challenge, .unlock, caller)
        return GivenSecrets([try open(passcode, challenge, caller, authorizing: nil)])
    }

    /// Uses a challenge up, which must be for this.
    func use(_ challenge: PasscodeChallenge, _ purpose: PasscodePurpose, _ caller: Peer) throws(Refusal) {
        guard challenge.purpose == purpose else { throw Refusal(.badParameter, "the challenge is for something else") }
        try room.inbox.use(challenge, for: caller.uid)
    }

    private func open(
        _ sealed: SealedPasscode?, _ challenge: PasscodeChallenge, _ caller: Peer, authorizing binding: SealBinding?
    ) throws(Refusal) -> HeldSecret? {
        guard let sealed else { return nil }
        return HeldSecret(try room.inbox.unseal(sealed, challenge, of: caller.uid, authorizing: binding))
    }

    /// Runs what a passcode decides, and keeps for the user who brought a wrong one.
    func guessing<Value: ~Copyable>(
        _ purpose: PasscodePurpose, _ caller: Peer, _ vault: Vault, _ body: () throws(Refusal) -> Value
    ) throws(Refusal) -> Value {
        do throws(Refusal) {
            return try body()
        } catch {
            if error.reason == .authenticationFailed, error.triesLeft != nil {
                let who = CallerName(of: caller, identity ?? room.witness.identity(of: caller)).path ?? "an unknown program"
                vault.note(WrongGuess(date: room.host.clock.referenceMicroseconds, purpose: purpose, who: who))
            }
            throw error
        }
    }
}
