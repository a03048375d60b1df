// The secrets of a request while they are used.

import Enclave
import EnclaveWire
import VaubanLinuxHost
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel
import VaubanUserWire

/// The secrets for one challenge: first the one that authorizes the request, then the others in the request's order. They are erased with
/// the request, or before it waits for the user.
final class UnsealedSecrets {
    private var secrets: [HeldSecret?]

    init(_ secrets: [HeldSecret?]) { self.secrets = secrets }

    func passcode(_ index: Int) throws(Refusal) -> SecretBytes {
        guard let held = secrets[index] else { throw Refusal(.internalError) }
        return held.secret.duplicate()
    }

    func recoveryKey(_ index: Int) throws(Refusal) -> RecoveryKey {
        let typed = try passcode(index)
        do throws(RecoveryKeyError) { return try RecoveryKey(typed: typed) } catch {
            throw Refusal(.authenticationFailed, "the recovery key has eight groups of six digits, each a multiple of eleven")
        }
    }

    /// Calls `body` with a recovery key, or with nil if the request has none.
    func withRecoveryKey(_ index: Int, _ body: (borrowing RecoveryKey?) throws(Refusal) -> Void) throws(Refusal) {
        guard secrets[index] != nil else { return try body(nil) }
        let key: RecoveryKey? = try recoveryKey(index)
        try body(key)
    }

    /// Erases all of them, for a request that goes on without them.
    func erase() { secrets = [HeldSecret?](repeating: nil, count: secrets.count) }
}

extension RequestConnection {
    /// Unseals the secrets of one challenge and consumes it: first the secret that authorizes the request, which opens for exactly this
    /// request, then those that the request names. A request that was altered in transit fails here, before any passcode is compared.
    func unseal(
        _ challenge: PasscodeChallenge, authority: SealedPasscode, authorizing request: CredentialRequest, caller: Peer
    ) throws(Refusal) -> UnsealedSecrets {
        try use(challenge, purpose: request.purpose, caller: caller)
        var opened = [try open(authority, challenge: challenge, caller: caller, authorizing: .credential(request))]
        for other in request.otherSecrets { opened.append(try open(other, challenge: challenge, caller: caller, authorizing: nil)) }
        return UnsealedSecrets(opened)
    }

    /// Unseals the passcode of an unlock. The challenge names everything that it authorizes.
    func unseal(_ challenge: PasscodeChallenge, toUnlock passcode: SealedPasscode, _ caller: Peer) throws(Refusal) -> UnsealedSecrets {
        try use(challenge, purpose: .unlock, caller: caller)
        return UnsealedSecrets([try open(passcode, challenge: challenge, caller: caller, authorizing: nil)])
    }

    /// Consumes a challenge. Throws unless it was issued for this purpose.
    func use(_ challenge: PasscodeChallenge, purpose: PasscodePurpose, caller: Peer) throws(Refusal) {
        guard challenge.purpose == purpose else { throw Refusal(.badParameter, "The challenge is for another purpose") }
        try room.inbox.use(challenge, for: caller.uid)
    }

    private func open(
        _ sealed: SealedPasscode?, challenge: PasscodeChallenge, caller: Peer, authorizing binding: SealBinding?
    ) throws(Refusal) -> HeldSecret? {
        guard let sealed else { return nil }
        return HeldSecret(try room.inbox.unseal(sealed, challenge, of: caller.uid, authorizing: binding))
    }

    /// Runs a body that compares a passcode, and records the caller for the user if the passcode is wrong.
    func withFailedAttemptRecorded<Value: ~Copyable>(
        for purpose: PasscodePurpose, by caller: Peer, in vault: Vault, _ body: () throws(Refusal) -> Value
    ) throws(Refusal) -> Value {
        do throws(Refusal) {
            return try body()
        } catch {
            if error.reason == .authenticationFailed, error.attemptsLeft != nil {
                let name = CallerName(of: caller, identity ?? room.witness.identity(of: caller), teams: vault.teamNames)
                let who = name.path ?? "an unknown program"
                vault.record(FailedAttempt(date: room.host.clock.referenceMicroseconds, purpose: purpose, who: who))
            }
            throw error
        }
    }
}
