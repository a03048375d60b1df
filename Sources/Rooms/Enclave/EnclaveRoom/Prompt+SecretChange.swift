// The end of a prompt for a change with a new secret: the prompt reports the change only once it is made, and a new recovery key is shown
// after that.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanRefusal
internal import VaubanRoomHardening
import VaubanSecretBytes
import VaubanUserModel

extension Prompt {
    /// Makes a change with its new secret, then has the prompt agent that made the secret show it, if it has to. From the change on,
    /// neither the end of the caller nor a lock ends the prompt: by then, nothing secret of it is left here.
    func make(_ change: SecretChange, with gathered: OperationEvidence, _ new: consuming SecretBytes) throws(Refusal) {
        do throws(Refusal) {
            // Taken out of the evidence, so that it is erased before the user is waited for: a lock does not end that.
            guard let key = gathered.passcodeKey.take() else { throw Refusal(.authenticationFailed, "no passcode was entered") }
            try change.run(key, new)
        } catch {
            if error.reason == .cancelled { end(.callerGone) }
            throw error
        }
        _ = consume new
        guard change.showsSecret else { return }
        ScratchMemory.scrubStack()
        try awaitSeen()
        do throws(Refusal) {
            try change.confirmSeen()
        } catch  where error.reason == .authenticationFailed || error.reason == .recoveryKeyNotSet {
            throw SecretChange.changedMeanwhile
        }
    }

    /// Waits until the user confirms to have the new recovery key. The time for that starts now, for the caller too. The nonce is not among
    /// the open challenges, so it accepts no passcode.
    private func awaitSeen() throws(Refusal) {
        do throws(Refusal) {
            let nonce: [UInt8]
            do throws(SystemError) { nonce = try Entropy.bytes(32) } catch { throw SecretChange.notSeen }
            let request = PromptRequest(
                prompt: pending.prompt, user: caller.uid, challenge: PasscodeChallenge(nonce: nonce, purpose: .prompt), caller: name,
                operation: operation.kind, reason: nil, attempt: attempt, attemptsLeft: vault.status.attemptsLeft, methods: .passcode,
                state: PromptState(), change: operation.change, isMade: true)
            if let reportedPlace { try? connection.report(reportedPlace) }
            let end = MachineClock.monotonic + ConnectionLimits.userTimeout
            let bootEnd = room.host.clock.boot + ConnectionLimits.userTimeout
            try room.prompts.ask(request, pending)
            while true {
                guard room.host.clock.boot < bootEnd, MachineClock.monotonic < end else { throw SecretChange.notSeen }
                switch pending.next() {
                case .report(.answered(_, nonce, .seen)): return
                case .report(.answered(_, nonce, _)): throw SecretChange.notSeen
                case .some: continue
                case .none: break
                }
                if pending.isAbandoned { throw SecretChange.notSeen }
                _ = pending.wakeup.wait(until: end)
            }
        } catch {
            throw SecretChange.notSeen
        }
    }
}
