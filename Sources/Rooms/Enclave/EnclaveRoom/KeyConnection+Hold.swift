// Answers that hold for further signatures. The kernel and not the caller provides what they are bound to (Specs/authorizations.md).

import Enclave
import EnclaveWire
import Glibc
import VaubanKeyWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// An answer that may hold: what it would cover, and how the prompt describes that.
struct OfferedHold {
    let scope: HeldAnswerScope
    let notice: PromptHold
}

extension KeyConnection {
    /// Returns the hold of a use, from the requester's connection and the process that leads its session. Returns nil if the requester is
    /// the command line or has no identity of its own, like ssh and every interpreter: then each signature needs its own answer.
    func offeredHold(
        of use: KeyUse, by key: EnclaveKey, descriptors: [Descriptor], in vault: Vault
    ) throws(Refusal) -> OfferedHold? {
        guard let hold = use.hold else { return nil }
        guard descriptors.count == 2, let requester = try? Peer(ofConnection: descriptors[0]), requester.uid == caller.uid else {
            throw Refusal(.badParameter, "The requester's connection is missing, or another user's")
        }
        guard hold.isSigned(by: use.input) else { throw Refusal(.badParameter, "The message is not the one to be signed") }
        let found = room.witness.identity(of: requester)
        let leader = descriptors[1]
        let session = getsid(requester.pid)
        guard let program = found.application, !found.throughCommandLine, session > 0, ProcessDescriptor.pid(of: leader) == session,
            ProcessDescriptor.isAlive(leader), requester.isAlive
        else { return nil }
        return OfferedHold(
            scope: HeldAnswerScope(key: key, namespace: hold.namespace, program: program, session: session, leader: leader),
            notice: PromptHold(
                seconds: hold.seconds, namespace: hold.namespace, program: CallerName(of: requester, found, teams: vault.teamNames)))
    }
}
