// Evaluations: checks a policy or an access control, prompts for the missing evidence, and gives the context a handle to it.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

extension RequestConnection {
    func canEvaluate(_ policy: OwnerPolicy, for caller: Peer, in vault: Vault) throws(Refusal) -> EvaluationResult {
        try vault.canEvaluate(policy)
        return EvaluationResult(domainState: policy == .biometry ? domainState(for: caller, in: vault) : nil)
    }

    func status(of vault: Vault) -> DeviceStatus {
        var status = vault.status
        status.sleepIsAnnounced = room.watcher.isWatching
        return status
    }

    func environment(for caller: Peer, in vault: Vault) -> OwnerEnvironment {
        var environment = vault.ownerEnvironment
        if environment.fingersAreEnrolled { environment.domainState = domainState(for: caller, in: vault) }
        return environment
    }

    func evaluate(_ evaluation: Evaluation, for caller: Peer, in vault: Vault) throws(Refusal) -> EvaluationResult {
        guard !evaluation.reason.isEmpty else { throw Refusal(.badParameter, "The request needs a reason") }
        // Read before the prompt, since a lock voids earlier evidence.
        let epoch = vault.epoch
        let (requirement, protection, beginning) = try prepare(evaluation, for: caller, in: vault)
        if !evaluation.mayPrompt, case .prompt = vault.evaluate(requirement, for: protection, beginning.evidence) {
            throw Refusal(.interactionNotAllowed)
        }
        let gathered = try gather(
            Operation(
                kind: .evaluatePolicy, requirement: requirement, protection: protection, reason: evaluation.reason,
                titles: evaluation.titles),
            for: caller, in: vault, beginning: beginning)
        release()
        let handle = try room.authorizations.add(try vault.authorized(by: gathered, since: epoch), for: caller, on: self)
        let state = gathered.evidence.finger == nil ? nil : domainState(for: caller, in: vault)
        return EvaluationResult(authorization: handle, domainState: state)
    }

    /// Returns the requirement, its protection class and the evidence that is already valid. A policy prompts each time; an access control
    /// is satisfied by the context's evidence.
    private func prepare(
        _ evaluation: Evaluation, for caller: Peer, in vault: Vault
    ) throws(Refusal) -> (Requirement, ProtectionClass, OperationEvidence) {
        var beginning = OperationEvidence()
        let requirement: Requirement
        let protection: ProtectionClass
        switch evaluation.subject {
        case .policy(let policy):
            try vault.canEvaluate(policy)
            requirement = Vault.requirement(of: policy)
            protection = .always
        case .control(let control, let operation):
            guard let asked = control.requirement(for: operation.itemOperation) else {
                throw Refusal(.badParameter, "The access control does not allow this operation")
            }
            requirement = asked
            protection = control.protection
            beginning = room.authorizations.evidence(evaluation.authorization, for: caller, in: vault) ?? beginning
        }
        if beginning.evidence.finger == nil { beginning.evidence.finger = vault.fingerThatUnlocked(within: evaluation.reuseSeconds) }
        return (requirement, protection, beginning)
    }

    private func domainState(for caller: Peer, in vault: Vault) -> [UInt8]? {
        let identity = identity ?? room.witness.identity(of: caller)
        // The path identifies the user's own builds too, since their digest changes with each build.
        let path = identity.executable?.path
        guard let name = identity.standing == .own ? path : identity.application?.text ?? path else {
            // The application cannot be identified, and all such applications would get the same value.
            return nil
        }
        return vault.domainState(for: name)
    }
}
