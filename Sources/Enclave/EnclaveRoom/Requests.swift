// The dispatch table: every request of the enclave's door on one screen.

import Enclave
import EnclaveWire
import Logging
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanSecretBytes

extension RequestLine {
    func carryOut(_ request: EnclaveRequest, for caller: Peer) throws(Refusal) -> Response {
        let vault = room.vault(of: caller.uid)
        switch request {
        case .registerCaller:
            throw Refusal(.internalFault)

        case .seal(let row):
            let sealed = try vault.seal(row)
            return Response(.sealed(wrapped: sealed.wrapped), secret: sealed.key.duplicate())

        case .open(let row, let wrapped, let reason, let mayAsk):
            switch try vault.open(row, wrapped: wrapped) {
            case .opened(let key):
                return Response(.opened, secret: key)
            case .needsPerson(let opening):
                guard mayAsk else { throw Refusal(.interactionNotAllowed) }
                let given = try presence(of: caller, operation: .readItem, reason: reason)
                return Response(.opened, secret: try vault.open(opening, passcodeKey: given))
            }

        case .lease:
            // What is lent must be recallable: without keychaind's standing line nothing is.
            guard room.leases.isStanding else { throw Refusal(.unavailable, "keys are lent only while they can be called back") }
            let lent = try vault.lease()
            return Response(.leased(lent.lease), secret: lent.keys.duplicate())

        case .status:
            return Response(.status(vault.status))

        case .challenge(let purpose):
            return Response(.challenge(try room.inbox.challenge(purpose, for: caller.uid)), descriptors: [room.keyCard])

        case .setPasscode(let challenge, let new, _):
            let passcode = try passcodes(challenge, .set, [new], caller).first
            try recall(vault.setPasscode(passcode.secret), everything: true, of: caller.uid)
            return Response(.done)

        case .changePasscode(let challenge, let old, let new, _):
            let passcodes = try passcodes(challenge, .change, [old, new], caller)
            try vault.changePasscode(from: passcodes.first.secret, to: passcodes.last.secret)
            return Response(.done)

        case .unlock(let challenge, let sealed):
            let passcode = try passcodes(challenge, .unlock, [sealed], caller).first
            try vault.unlock(passcode.secret)
            return Response(.done)

        case .lock:
            try recall(vault.lock(), everything: false, of: caller.uid)
            return Response(.done)

        case .canEvaluate(let policy):
            try vault.canEvaluate(policy)
            return Response(.done)

        case .evaluate(let policy, let reason):
            guard !reason.isEmpty else { throw Refusal(.badParameter, "a reason is needed") }
            try vault.canEvaluate(policy)
            _ = try presence(of: caller, operation: .evaluatePolicy, reason: reason)
            return Response(.done)

        default: throw Refusal(.unsupported)
        }
    }

    /// A lock is complete when keychaind has erased what it borrowed, or its line was cut.
    private func recall(_ epoch: Int64, everything: Bool, of person: UInt32) {
        if !room.leases.recall(LeaseRecall(person: person, epoch: epoch, everything: everything)) {
            room.log.warning("keychaind did not give back its keys in time and was cut off")
        }
    }

    /// Opens the passcodes of one challenge, which is used up by it.
    private func passcodes(
        _ challenge: PasscodeChallenge, _ purpose: PasscodePurpose, _ sealed: [SealedPasscode], _ caller: Peer
    ) throws(Refusal) -> Passcodes {
        guard challenge.purpose == purpose else { throw Refusal(.badParameter, "the challenge is for something else") }
        try room.inbox.use(challenge, for: caller.uid)
        var opened: [OpenedPasscode] = []
        for passcode in sealed { opened.append(OpenedPasscode(try room.inbox.unseal(passcode, challenge, of: caller.uid))) }
        guard let first = opened.first, let last = opened.last else { throw Refusal(.internalFault) }
        return Passcodes(first: first, last: last)
    }
}

/// A passcode while a request uses it; erased with its last holder.
private final class OpenedPasscode {
    let secret: SecretBytes
    init(_ secret: consuming SecretBytes) { self.secret = secret }
}

private struct Passcodes {
    let first: OpenedPasscode
    let last: OpenedPasscode
}
