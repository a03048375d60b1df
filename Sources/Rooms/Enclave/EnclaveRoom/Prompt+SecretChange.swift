// The end of a prompt for a change that takes a new secret: the change is made before the prompt says so, and a recovery key is shown after
// it was made.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

extension Prompt {
    /// Makes a change with its new secret, then has the place that made the secret show it, if it does. From the change on, neither the
    /// caller's end nor a lock ends anything.
    func make(_ change: SecretChange, with gathered: OperationEvidence, _ new: HeldSecret) throws(Refusal) {
        do throws(Refusal) {
            switch gathered.passcodeKey {
            case .some(let key): try change.run(key, new.secret)
            case .none: throw Refusal(.authenticationFailed, "no passcode was entered")
            }
        } catch {
            if error.reason == .cancelled { end(.callerGone) }
            throw error
        }
        guard change.showsSecret else { return }
        try awaitSeen()
        do throws(Refusal) {
            try change.confirmSeen(new.secret)
        } catch  where error.reason == .authenticationFailed || error.reason == .recoveryKeyNotSet {
            throw SecretChange.changedMeanwhile
        }
    }

    /// Asks for nothing but that the user has seen the new recovery key. The time to write it down begins now, and the caller's with it.
    /// The nonce takes no passcode: it is not among the open challenges.
    private func awaitSeen() throws(Refusal) {
        do throws(Refusal) {
            let nonce: [UInt8]
            do throws(SystemError) { nonce = try Entropy.bytes(32) } catch { throw SecretChange.notSeen }
            let request = PromptRequest(
                prompt: pending.prompt, user: caller.uid, challenge: PasscodeChallenge(nonce: nonce, purpose: .prompt), caller: name,
                operation: operation.kind, reason: nil, attempt: attempt, attemptsLeft: vault.status.attemptsLeft, methods: .passcode,
                state: PromptState(), change: operation.change, isMade: true)
            if let reportedPlace { try? session.report(reportedPlace) }
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
