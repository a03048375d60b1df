// The dispatch table: every request of the enclave's door on one screen.

import Enclave
import EnclaveWire
import Logging
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanSecretBytes

extension RequestLine {
    /// Time does its work before a request, and what a request ended is called back before its answer leaves.
    func carryOut(_ request: EnclaveRequest, _ secret: borrowing SecretBytes?, for caller: Peer) throws(Refusal) -> Response {
        let vault = room.vault(of: caller.uid)
        room.attend(to: vault)
        defer { room.attend(to: vault) }
        return switch request.role {
        case .authentication: try carryOutPersonal(request, for: caller, in: vault)
        default: try carryOutForKeychain(request, secret, for: caller, in: vault)
        }
    }

    private func carryOutForKeychain(
        _ request: EnclaveRequest, _ secret: borrowing SecretBytes?, for caller: Peer, in vault: Vault
    ) throws(Refusal) -> Response {
        switch request {
        case .seal(let row):
            let sealed = try vault.seal(row, password: secret, for: requester(for: caller))
            return Response(.sealed(wrapped: sealed.wrapped), secret: sealed.key.duplicate())

        case .open(let row, let wrapped, let reason, let mayAsk, let authorisation):
            switch try vault.open(row, wrapped: wrapped) {
            case .opened(let key): return Response(.opened, secret: key)
            case .layered(let opening):
                return Response(.opened, secret: try finish(opening, .readItem, secret, reason, mayAsk, authorisation, for: caller, in: vault))
            }

        case .lease:
            // What is lent must be recallable: without keychaind's standing line nothing is.
            guard room.leases.isStanding else { throw Refusal(.unavailable, "keys are lent only while they can be called back") }
            let lent = try vault.lease()
            return Response(.leased(lent.lease), secret: lent.keys.duplicate())

        case .rewrap(let row, let wrapped, let generation):
            return Response(.sealed(wrapped: try vault.rewrap(row, wrapped: wrapped, to: generation)))

        case .retire(let names):
            try vault.retire(names)
            return Response(.done)

        case .fate(let name): return Response(.fate(try vault.fate(of: name)))

        case .consent(let consent, let reason):
            let gathered = try gather(
                Operation(
                    kind: .consent, requirement: Vault.requirement(of: .biometryOrPasscode), protection: .always, reason: reason, consent: consent),
                for: caller, in: vault)
            release()
            return Response(.consented(gathered.consent ?? .once))

        default: throw Refusal(.internalFault)
        }
    }

    private func carryOutPersonal(_ request: EnclaveRequest, for caller: Peer, in vault: Vault) throws(Refusal) -> Response {
        switch request {
        case .status:
            var status = vault.status
            status.sleepIsAnnounced = room.watcher.isWatching
            return Response(.status(status))

        case .challenge(let purpose):
            return Response(.challenge(try room.inbox.challenge(purpose, for: caller.uid)), descriptors: [room.keyCard])

        case .setPasscode(let challenge, let new, let recoveryKey):
            let given = try unseal(challenge, new, allowing: .setPasscode(recoveryKey: recoveryKey), caller)
            try given.withRecoveryKey(1) { (key) throws(Refusal) in 
                try vault.setPasscode(given.passcode(0), recoveryKey: key, for: requester(for: caller))
            }

        case .changePasscode(let challenge, let old, let new, let rolls):
            let given = try unseal(challenge, old, allowing: .changePasscode(new: new, rolls: rolls), caller)
            try guessing(.change, caller, vault) { () throws(Refusal) in
                try vault.changePasscode(from: given.passcode(0), to: given.passcode(1), rolls: rolls, for: requester(for: caller))
            }

        case .unlock(let challenge, let sealed):
            let given = try unseal(challenge, toUnlock: sealed, caller)
            try guessing(.unlock, caller, vault) { () throws(Refusal) in try vault.unlock(given.passcode(0), for: requester(for: caller)) }

        case .lock: try vault.lock()

        case .environment: return Response(.environment(environment(for: caller, in: vault)))

        case .canEvaluate(let policy): return try canEvaluate(policy, for: caller, in: vault)

        case .evaluate(let evaluation): return try evaluate(evaluation, for: caller, in: vault)

        case .listFingers(let challenge, let sealed):
            return Response(.fingers(try listFingers(challenge, sealed, for: caller, in: vault)))

        default: try carryOutUpkeep(request, for: caller, in: vault)
        }
        return Response(.done)
    }
}
