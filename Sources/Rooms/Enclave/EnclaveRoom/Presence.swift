// Asking the user: the question goes to authd, what can be shown is a passcode, a finger or both, and it ends whatever
// happens. Three tries of each make one prompt; every try has a challenge of its own.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanDER
import VaubanLinuxHost
import VaubanPlainText
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel
import VaubanUserWire

/// One operation for which a user is asked.
struct Operation {
    let kind: PromptOperation
    let requirement: Requirement
    let protection: Protection
    let reason: String?
    /// What is opened, for the trace of tests: the item's identity.
    var item: [UInt8] = []
    /// What the user is to let happen, where the operation is that.
    var consent: Consent?
    /// The caller's words on the buttons.
    var titles = PromptTitles.standard
    /// What is typed is tried on this, where the question is for an application's password.
    var trial: PasswordTrial?
}

extension CallerSession {
    /// Gathers what an operation requires. Ends with what was shown, or with the user's no, the caller's or the asking
    /// room's end, or the user's time.
    /// `beginning` is what counts as shown already.
    func gather(
        _ operation: Operation, for caller: Peer, in vault: Vault, beginning gathered: OperationEvidence = OperationEvidence()
    ) throws(Refusal) -> OperationEvidence {
        // What an earlier operation was allowed by, and then was not carried out, allows nothing any more.
        allowing = nil
        switch vault.judge(operation.requirement, for: operation.protection, gathered.evidence) {
        case .allow: return gathered
        case .refuse(let reason): throw refusal(reason, of: vault)
        case .ask(let ways):
            let prompt = try Prompt(line: self, operation: operation, caller: caller, vault: vault, ways: ways)
            try prompt.run(gathered)
            return gathered
        }
    }

    /// A lock-out says how long it lasts.
    private func refusal(_ reason: Refusal.Reason, of vault: Vault) -> Refusal {
        if reason == .lockedOut { do { try vault.throwIfPasscodeCannotBeTried() } catch { return error } }
        return Refusal(reason)
    }
}

/// One prompt, from its first question to its end.
final class Prompt {
    private let line: any CallerSession
    private let operation: Operation
    private let caller: Peer
    private let vault: Vault
    private let pending: PendingPrompt
    private let name: CallerName
    /// The caller's words, fit to be shown.
    private let reason: String?
    private let deadline: UInt64
    /// The same by the clock that goes on while the machine sleeps.
    private let bootDeadline: UInt64
    private let trace: RequestTrace
    private var ways: AuthenticationMethods
    private var attempt: Int64 = 1
    private var misses: Int64 = 0
    private var challenge: PasscodeChallenge?
    private var fingerNonce: [UInt8]?
    /// Whether it was reported as before the user; until then no evidence is looked for, and none is taken.
    private var isShown = false
    /// Where the caller was told that the user is asked.
    private var toldPlace: String?
    private var outcome = PromptOutcome.failed
    /// When a delay of the passcode is over that closed one way of this question.
    private var reopensAt: UInt64?

    private var room: EnclaveRoom { line.room }

    init(line: any CallerSession, operation: Operation, caller: Peer, vault: Vault, ways: AuthenticationMethods) throws(Refusal) {
        self.line = line
        self.operation = operation
        self.caller = caller
        self.vault = vault
        self.ways = ways
        trace = RequestTrace(line.room, caller, operation)
        pending = try line.room.attention.begin(for: caller.uid)
        name = CallerName(of: caller, line.identity ?? line.room.witness.identity(of: caller))
        let words = operation.reason.map {
            PlainLine.of($0, charactersMax: PromptQuestion.reasonCharactersMax, bytesMax: PromptQuestion.reasonBytesMax)
        }
        reason = words == "" ? nil : words
        deadline = MachineClock.monotonic + ConnectionLimits.userTimeout
        bootDeadline = line.room.host.clock.boot + ConnectionLimits.userTimeout
    }

    func run(_ gathered: OperationEvidence) throws(Refusal) {
        defer {
            if let challenge { room.inbox.withdraw(challenge) }
            if let fingerNonce { room.reader.cancel(fingerNonce) }
            room.attention.end(pending, outcome)
            trace.end(outcome)
        }
        try ask()
        while true {
            switch try next() {
            case .readerGone: try dropFinger(.readerGone)
            case .hint(let nonce, let hint, _, _): if nonce == fingerNonce { tell(hint) }
            case .fingers: continue
            case .closed:
                // Nothing that was shown outlives a lock, and no question does: who comes back is asked anew.
                outcome = .expired
                throw Refusal(.locked, "the keychain was locked or changed meanwhile")
            case .report(.waiting(_, let place)): try tell(place)
            case .report(.shown(_, let place)): try shown(place)
            case .report(.answered(_, let nonce, let answer)):
                guard nonce == challenge?.nonce else { continue }
                trace.answered(nonce, answer)
                if try take(answer, gathered) { return }
            case .verdict(let verdict, let held):
                giveBack(held, of: verdict.user)
                guard verdict.nonce == fingerNonce else { continue }
                if try take(verdict, gathered) { return }
            }
        }
    }

    // MARK: Asking

    /// Puts the question as it is now; a challenge that was open is worth nothing any more.
    private func ask() throws(Refusal) {
        if let challenge { room.inbox.withdraw(challenge) }
        let challenge = try room.inbox.challenge(.prompt, for: caller.uid)
        self.challenge = challenge
        trace.issued(challenge.nonce)
        let status = vault.status
        let question = PromptQuestion(
            prompt: pending.prompt, user: caller.uid, challenge: challenge, caller: name, operation: operation.kind, reason: reason,
            attempt: attempt, triesLeft: operation.trial == nil ? status.triesLeft : PromptQuestion.attemptsMax - attempt + 1, ways: ways,
            state: operation.trial == nil ? state(status) : PromptState(), consent: operation.consent, titles: operation.titles)
        // The passcode is no way only for as long as tries are delayed: then it is asked for again.
        let isDelayed = status.secondsToWait > 0 && operation.requirement.takesPasscode && !ways.contains(.passcode)
        reopensAt = isDelayed ? MachineClock.monotonic + UInt64(status.secondsToWait) * 1_000_000_000 : nil
        try room.attention.ask(question, pending)
        trace.asked(challenge.nonce)
        if isShown { askFinger() }
    }

    /// What a screen shows of the finger and of a delay.
    private func state(_ status: DeviceStatus) -> PromptState {
        let finger: PromptState.Finger =
            if !operation.requirement.takesFinger { .notAsked } else if ways.contains(.finger) { .awaited } else {
                switch vault.fingerRefusal {
                case .biometryNotEnrolled, .biometryNotAvailable: .none
                default: .disabled
                }
            }
        return PromptState(
            finger: finger, fingersLeft: status.biometry.isReady ? status.biometry.missesLeft : 0, secondsToWait: status.secondsToWait)
    }

    /// Changes the picture of the finger.
    private func tell(_ news: PromptUpdate.News) {
        room.attention.update(pending, PromptUpdate(news, fingersLeft: vault.status.biometry.missesLeft))
    }

    /// What would help the reader to read the finger.
    private func tell(_ hint: FingerHint) {
        guard !hint.isAboutLearning else { return }
        room.attention.update(pending, PromptUpdate(.hint, fingersLeft: vault.status.biometry.missesLeft, hint: hint))
    }

    /// From the first place on, the caller waits for the user; it hears of another only when it is another.
    private func tell(_ place: String) throws(Refusal) {
        guard place != toldPlace else { return }
        do { try line.report(place) } catch { throw gone() }
        toldPlace = place
    }

    /// A finger is looked for only while the question is before the user: nobody touches a reader for an unknown cause,
    /// and a touch for the question on the screen is not one for those that stand in line behind it.
    private func shown(_ place: String) throws(Refusal) {
        try tell(place)
        isShown = true
        trace.shown()
        askFinger()
    }

    private func askFinger() {
        guard ways.contains(.finger), fingerNonce == nil, let nonce = try? Entropy.bytes(32) else { return }
        trace.issued(nonce)
        guard room.reader.ask(caller.uid, nonce: nonce, pending) else { return pending.report(.readerGone) }
        fingerNonce = nonce
        trace.askedReader(nonce)
    }

    /// The next event, or the end of waiting.
    private func next() throws(Refusal) -> PromptEvent {
        while true {
            // Before anything that has come: whoever reports without end does not keep a question open.
            guard room.host.clock.boot < bootDeadline, MachineClock.monotonic < deadline else { throw timeOver() }
            if let event = pending.next() { return event }
            if pending.isAbandoned { throw Refusal(.nobodyToAsk, "the prompt service ended; try again") }
            switch pending.wakeup.wait(
                until: min(deadline, reopensAt ?? deadline), connection: line.channel.socket, process: caller.process)
            {
            case .signalled: continue
            case .hungUp, .processEnded: throw gone()
            case .deadline: if reopensAt != nil { try reopen() }
            }
        }
    }

    /// A delay is over: what can be shown is more than before.
    private func reopen() throws(Refusal) {
        reopensAt = nil
        guard case .ask(let more) = vault.judge(operation.requirement, for: operation.protection, Evidence()), more != ways else { return }
        ways.formUnion(more.intersection(.passcode))
        try ask()
    }

    private func timeOver() -> Refusal {
        outcome = .expired
        return Refusal(.userTimeOver)
    }

    private func gone() -> Refusal {
        outcome = .callerGone
        return Refusal(.cancelled, "the caller is gone")
    }

    // MARK: What is shown

    /// True when the operation may go on.
    private func take(_ answer: PromptAnswer, _ gathered: OperationEvidence) throws(Refusal) -> Bool {
        guard let challenge else { return false }
        switch answer {
        case .cancelled: outcome = .cancelled; throw Refusal(.cancelled)
        case .fallback: outcome = .cancelled; throw Refusal(.fallbackChosen)
        case .nobody: throw Refusal(.nobodyToAsk)
        case .consent(let sealed, let choice):
            guard let consent = operation.consent, consent.offered.contains(choice) else {
                throw Refusal(.authenticationFailed, "this choice was not offered")
            }
            gathered.consent = choice
            return try take(sealed, challenge, authorizing: .consent(consent, choice), gathered)
        case .passcode(let sealed):
            guard operation.consent == nil else { throw Refusal(.authenticationFailed, "a choice belongs to this answer") }
            return try take(sealed, challenge, authorizing: nil, gathered)
        }
    }

    private func take(
        _ sealed: SealedPasscode, _ challenge: PasscodeChallenge, authorizing binding: SealBinding?, _ gathered: OperationEvidence
    ) throws(Refusal) -> Bool {
        // No passcode is taken for a question that nobody saw; it ends, since whoever answered it waits for the enclave's word.
        guard isShown, ways.contains(.passcode) else { throw Refusal(.authenticationFailed, "a passcode is not accepted here") }
        try room.inbox.use(challenge, for: caller.uid)
        trace.used(challenge.nonce)
        let passcode = try room.inbox.unseal(sealed, challenge, of: caller.uid, authorizing: binding)
        if let trial = operation.trial { return try take(password: passcode, trial) }
        do throws(Refusal) {
            gathered.passcodeKey = try vault.authenticate(passcode, for: line.requester(for: caller))
        } catch {
            trace.evidence(challenge.nonce, "passcode", isRight: false)
            if error.reason == .cancelled { outcome = .callerGone }
            guard error.reason == .authenticationFailed else { throw error }
            vault.note(WrongGuess(date: room.host.clock.referenceMicroseconds, purpose: .prompt, who: name.path ?? "an unknown program"))
            attempt += 1
            guard attempt <= PromptQuestion.attemptsMax, error.secondsToWait ?? 0 == 0 else { throw error }
            try ask()
            return false
        }
        room.tellChange(of: vault)
        gathered.evidence.passcode = vault.boot
        trace.evidence(challenge.nonce, "passcode", isRight: true)
        return try goOn(with: gathered, challenge.nonce)
    }

    /// The application's password is nobody's evidence, and a wrong one costs no try of the passcode.
    private func take(password: consuming SecretBytes, _ trial: PasswordTrial) throws(Refusal) -> Bool {
        do throws(Refusal) {
            try trial.run(password)
        } catch {
            if error.reason == .cancelled { outcome = .callerGone }
            guard error.reason == .authenticationFailed, attempt < PromptQuestion.attemptsMax else { throw error }
            attempt += 1
            try ask()
            return false
        }
        outcome = .accepted
        return true
    }

    private func take(_ verdict: ReaderVerdict, _ gathered: OperationEvidence) throws(Refusal) -> Bool {
        fingerNonce = nil
        trace.verdict(verdict)
        // Another user's finger, or the answer to something that was not asked, is a finger that failed: what the reader
        // says ends the question as every other miss does, and cannot leave it waiting.
        switch verdict.user == caller.uid ? verdict.outcome : .missed {
        case .matched:
            do throws(Refusal) {
                gathered.evidence.finger = try vault.fingerMatched(fingers: verdict.fingers)
            } catch {
                if ways == .finger { throw error }
                try dropFinger(.disabled)
                return false
            }
            tell(.matched)
            // A finger has no words: it says yes to this once.
            gathered.consent = .once
            trace.evidence(verdict.nonce, "finger", isRight: true)
            return try goOn(with: gathered, verdict.nonce)
        case .missed, .enrolled, .notEnrolled, .changed:
            trace.evidence(verdict.nonce, "finger", isRight: false)
            vault.fingerMissed()
            // The question may stay open for the passcode.
            room.tellChange(of: vault)
            misses += 1
            if misses >= PromptQuestion.attemptsMax || vault.fingerRefusal != nil {
                try dropFinger(.disabled)
            } else {
                tell(.tryAgain)
                askFinger()
            }
            return false
        }
    }

    /// A match brings with it what the reader held for unlocking; where this is no unlock, the reader holds it again.
    private func giveBack(_ held: HeldSecret?, of user: UInt32) {
        guard let held, user == caller.uid else { return }
        if !room.reader.hold(user, held) { vault.readerIsGone() }
    }

    /// No finger counts in this prompt any more; what is left is the passcode, or nothing.
    private func dropFinger(_ why: PromptUpdate.News) throws(Refusal) {
        guard ways.contains(.finger) else { return }
        if let fingerNonce { room.reader.cancel(fingerNonce) }
        fingerNonce = nil
        ways.remove(.finger)
        tell(why)
        guard !ways.isEmpty else { throw Refusal(vault.fingerRefusal ?? .authenticationFailed, "no finger matched") }
        try ask()
    }

    /// Something right was shown: enough, or one thing more.
    private func goOn(with gathered: OperationEvidence, _ nonce: [UInt8]) throws(Refusal) -> Bool {
        switch vault.judge(operation.requirement, for: operation.protection, gathered.evidence) {
        case .allow:
            outcome = .accepted
            line.allowing = (trace, nonce)
            return true
        case .refuse(let reason): throw Refusal(reason)
        case .ask(let more):
            ways = more
            try ask()
            return false
        }
    }
}
