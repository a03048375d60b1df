// What a connection on behalf of one caller is to whoever asks its user.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

protocol CallerSession: AnyObject {
    var room: EnclaveRoom { get }
    var channel: Channel { get }
    /// Who the caller is, once it was asked.
    var identity: CallerIdentity? { get }
    /// What the last operation was allowed by, until it is carried out.
    var allowing: (RequestTrace, [UInt8])? { get set }
    /// Tells the other end where the user is being asked.
    func report(_ place: String) throws
    /// Tells the other end that the request waits for its turn.
    func reportQueued() throws
}

extension CallerSession {
    /// For whom a derivation of this request is made: it leaves the queue when the other end hangs up, or the caller's process ends.
    func requester(for caller: Peer) -> DerivationRequester {
        DerivationRequester(connection: channel.socket, process: caller.process) { [self] in try reportQueued() }
    }

    /// What an item or a private key still needs: what its user shows, and its application's password, which the user is asked for
    /// where the call did not bring it.
    func finish(
        _ opening: PendingOpening, _ kind: PromptOperation, _ password: borrowing SecretBytes?, _ reason: String?, _ mayAsk: Bool,
        _ authorization: [UInt8]?, for caller: Peer, in vault: Vault
    ) throws(Refusal) -> SecretBytes {
        let requirement = try vault.checkSatisfiable(opening)
        let lacksPassword = opening.needsPassword && password == nil
        if !mayAsk, lacksPassword { throw Refusal(.interactionNotAllowed) }
        let beginning = room.authorizations.evidence(authorization, for: caller, in: vault) ?? OperationEvidence()
        if !mayAsk, case .ask = vault.judge(requirement, for: opening.protection, beginning.evidence) {
            throw Refusal(.interactionNotAllowed)
        }
        let operation = Operation(kind: kind, requirement: requirement, protection: opening.protection, reason: reason, item: opening.item)
        let gathered = try gather(operation, for: caller, in: vault, beginning: beginning)
        let key =
            lacksPassword
            ? try finishWithTypedPassword(opening, gathered, reason, for: caller, in: vault)
            : try vault.finish(opening, gathered, password: password, for: requester(for: caller))
        release()
        return key
    }

    /// What was shown served its operation.
    func release() {
        if let (trace, nonce) = allowing { trace.released(nonce) }
        allowing = nil
    }
}
