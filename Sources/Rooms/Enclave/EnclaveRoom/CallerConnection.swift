// A connection that serves one caller, with what a prompt to that caller's user needs.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

protocol CallerConnection: AnyObject {
    var room: EnclaveRoom { get }
    var channel: Channel { get }
    /// The caller's identity, once it was requested.
    var identity: CallerIdentity? { get }
    /// The trace and nonce of the prompt that allowed the last operation, until that is performed.
    var allowing: (RequestTrace, [UInt8])? { get set }
    /// Reports to the caller where the user is being prompted.
    func report(_ place: String) throws
    /// Reports to the caller that the request is queued.
    func reportQueued() throws
}

extension CallerConnection {
    /// Returns the requester of a derivation for this request. The request leaves the queue when the peer hangs up or the caller's process
    /// ends.
    func requester(for caller: Peer) -> DerivationRequester {
        DerivationRequester(connection: channel.socket, process: caller.process) { [self] in try reportQueued() }
    }

    /// Opens an item or a private key. Prompts the user for the evidence that `beginning` lacks, and for the application password if the
    /// call did not contain it.
    func finish(
        _ opening: PendingOpening, as kind: PromptOperation, password: borrowing SecretBytes?, reason: String?, mayPrompt: Bool,
        beginning: OperationEvidence, hold: PromptHold? = nil, for caller: Peer, in vault: Vault
    ) throws(Refusal) -> SecretBytes {
        let requirement = try vault.checkSatisfiable(opening)
        let lacksPassword = opening.needsPassword && password == nil
        if !mayPrompt, lacksPassword { throw Refusal(.interactionNotAllowed) }
        if !mayPrompt, case .prompt = vault.evaluate(requirement, for: opening.protection, beginning.evidence) {
            throw Refusal(.interactionNotAllowed)
        }
        let operation = Operation(
            kind: kind, requirement: requirement, protection: opening.protection, reason: reason, item: opening.item,
            hold: requirement.acceptsPasscode ? hold : nil)
        let gathered = try gather(operation, for: caller, in: vault, beginning: beginning)
        let key =
            lacksPassword
            ? try finishWithTypedPassword(opening, gathered, reason: reason, for: caller, in: vault)
            : try vault.finish(opening, gathered, password: password, for: requester(for: caller))
        release()
        return key
    }

    /// Records in the trace that the evidence was used for its operation.
    func release() {
        if let (trace, nonce) = allowing { trace.released(nonce) }
        allowing = nil
    }
}
