// Asking the person: three tries of one prompt, each with a challenge of its own, and an end whatever happens.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanDER
import VaubanLinuxHost
import VaubanSecretBytes

extension RequestLine {
    /// Asks the caller's person for the passcode and answers the key that it gives. Ends with the person's answer, the
    /// caller's or the asking room's end, or the person's time.
    func presence(of caller: Peer, operation: PromptOperation, reason: String?) throws(Refusal) -> SecretBytes {
        let vault = room.vault(of: caller.uid)
        try vault.throwIfPasscodeCannotBeTried()
        let pending = try room.attention.begin()
        var outcome = PromptOutcome.failed
        defer { room.attention.end(pending, outcome) }
        let name = CallerName(pid: Int64(caller.pid), path: room.witness.executable(of: caller)?.path)
        let deadline = MachineClock.monotonic + DoorLimits.personTime

        for attempt in 1...PromptQuestion.attemptsMax {
            let challenge = try room.inbox.challenge(.prompt, for: caller.uid)
            defer { room.inbox.withdraw(challenge) }
            let question = PromptQuestion(
                prompt: pending.prompt, person: caller.uid, challenge: challenge, caller: name, operation: operation, reason: reason,
                attempt: attempt, triesLeft: vault.status.triesLeft)
            try room.attention.ask(question, pending)
            let answer: PromptAnswer
            do throws(Refusal) {
                answer = try self.answer(to: challenge, pending, caller, deadline)
            } catch {
                outcome = error.reason == .personTimeOver ? .expired : .callerGone
                throw error
            }
            switch answer {
            case .cancelled: outcome = .cancelled; throw Refusal(.cancelled)
            case .fallback: outcome = .cancelled; throw Refusal(.fallbackChosen)
            case .nobody: throw Refusal(.nobodyToAsk)
            case .passcode(let sealed):
                try room.inbox.use(challenge, for: caller.uid)
                let passcode = try room.inbox.unseal(sealed, challenge, of: caller.uid)
                do throws(Refusal) {
                    let key = try vault.authenticate(passcode)
                    outcome = .accepted
                    return key
                } catch {
                    guard error.reason == .authenticationFailed, attempt < PromptQuestion.attemptsMax, error.secondsToWait ?? 0 == 0 else {
                        throw error
                    }
                }
            }
        }
        throw Refusal(.authenticationFailed)
    }

    /// Waits for what comes of one try. The waiting caller is told, once, where the person is asked.
    private func answer(
        to challenge: PasscodeChallenge, _ pending: PendingPrompt, _ caller: Peer, _ deadline: UInt64
    ) throws(Refusal) -> PromptAnswer {
        while true {
            while let report = pending.next() {
                switch report {
                case .shown(_, let place):
                    do { try channel.send(header: try EnclaveReply.waitingForPerson(place: place).encoded()) } catch { throw Refusal(.cancelled, "the caller is gone") }
                case .answered(_, challenge.nonce, let answer): return answer
                case .answered: continue
                }
            }
            if pending.isAbandoned { throw Refusal(.nobodyToAsk, "the prompt service ended; try again") }
            switch pending.wakeup.wait(until: deadline, connection: channel.socket, process: caller.process) {
            case .signalled: continue
            case .hungUp, .processEnded: throw Refusal(.cancelled, "the caller is gone")
            case .deadline: throw Refusal(.personTimeOver)
            }
        }
    }
}
