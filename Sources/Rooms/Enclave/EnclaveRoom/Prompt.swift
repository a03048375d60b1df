// Prompts the user: the enclave sends the prompt to authd and accepts a passcode, a fingerprint or both. Every prompt ends. It allows three
// attempts of each kind, and every attempt has its own challenge.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanDER
import VaubanLinuxHost
import VaubanPlainText
import VaubanRefusal
internal import VaubanRoomHardening
import VaubanSecretBytes
import VaubanUserModel
import VaubanUserWire

extension CallerConnection {
    /// Gathers the evidence that an operation requires, and prompts for what `gathered` lacks. Throws if the user cancels, if the caller or
    /// its room is gone, or if the user's time has passed.
    func gather(
        _ operation: Operation, for caller: Peer, in vault: Vault, beginning gathered: OperationEvidence = OperationEvidence()
    ) throws(Refusal) -> OperationEvidence {
        // Evidence for an earlier operation that was never performed is void.
        allowing = nil
        switch vault.evaluate(operation.requirement, for: operation.protection, gathered.evidence) {
        case .allow: return gathered
        case .refuse(let reason): throw refusal(reason, of: vault)
        case .prompt(let methods):
            // Opening the outer layer left traces of its key on the stack, and the user may lock while the prompt is open.
            ScratchMemory.scrubStack()
            let prompt = try Prompt(connection: self, operation: operation, caller: caller, vault: vault, methods: methods)
            try prompt.run(gathered)
            return gathered
        }
    }

    /// Returns the refusal for a reason. For a lockout it contains its duration.
    private func refusal(_ reason: Refusal.Reason, of vault: Vault) -> Refusal {
        if reason == .lockedOut { do { try vault.checkPasscodeCanBeTried() } catch { return error } }
        return Refusal(reason)
    }
}

/// One prompt, from its first round to its end.
final class Prompt {
    let connection: any CallerConnection
    let operation: Operation
    let caller: Peer
    let vault: Vault
    let pending: PendingPrompt
    let name: CallerName
    /// The caller's reason as one plain line.
    private let reason: String?
    let deadline: UInt64
    /// The same deadline on the clock that includes sleep.
    let bootDeadline: UInt64
    private let trace: RequestTrace
    private let initialMethods: AuthenticationMethods
    private var phase = PromptPhase.preparing
    private(set) var attempt: Int64 = 1
    private var misses: Int64 = 0
    /// The place of the prompt that was last reported to the caller.
    private(set) var reportedPlace: String?

    var room: EnclaveRoom { connection.room }
    private var methods: AuthenticationMethods { phase.round?.methods ?? initialMethods }

    init(connection: any CallerConnection, operation: Operation, caller: Peer, vault: Vault, methods: AuthenticationMethods) throws(Refusal)
    {
        self.connection = connection
        self.operation = operation
        self.caller = caller
        self.vault = vault
        initialMethods = methods
        trace = RequestTrace(connection.room, caller: caller, operation: operation)
        pending = try connection.room.prompts.begin(for: caller)
        name = CallerName(of: caller, connection.identity ?? connection.room.witness.identity(of: caller), teams: vault.teamNames)
        let line = operation.reason.map {
            PlainLine.of($0, charactersMax: PromptRequest.reasonCharactersMax, bytesMax: PromptRequest.reasonBytesMax)
        }
        reason = line == "" ? nil : line
        deadline = MachineClock.monotonic + ConnectionLimits.userTimeout
        bootDeadline = connection.room.host.clock.boot + ConnectionLimits.userTimeout
    }

    /// Prompts until the operation may proceed, and adds the evidence to `gathered`.
    func run(_ gathered: OperationEvidence) throws(Refusal) {
        defer { end(.failed) }
        try beginRound(offering: initialMethods)
        while true {
            switch try nextEvent() {
            case .readerGone: try stopOfferingFinger(.readerGone)
            case .hint(let nonce, let hint, _, _): if nonce == phase.fingerNonce { showHint(hint) }
            case .fingers: continue
            case .closed:
                // A lock ends both evidence and prompt: a user who returns is prompted again.
                end(.expired)
                throw Refusal(.locked, "the keychain was locked or changed meanwhile")
            case .report(.waiting(_, let place)): try reportPlace(place)
            case .report(.shown(_, let place)): try show(at: place)
            case .report(.answered(_, let nonce, let answer)):
                guard let challenge = phase.round?.challenge, nonce == challenge.nonce else { continue }
                trace.answered(nonce, answer)
                if try accept(answer, to: challenge, gathered) { return }
            case .verdict(let verdict, let held):
                returnToReader(held, of: verdict.user)
                guard verdict.nonce == phase.fingerNonce else { continue }
                if try accept(verdict, gathered) { return }
            }
        }
    }

    /// Ends the prompt: withdraws its challenges and removes it from the screen. Only the first call has an effect.
    func end(_ outcome: PromptOutcome) {
        guard let open = phase.end(outcome) else { return }
        if let challenge = open.challenge { room.inbox.withdraw(challenge) }
        if let fingerNonce = open.fingerNonce { room.reader.cancel(fingerNonce) }
        room.prompts.end(pending, outcome)
        trace.end(outcome)
    }

    // MARK: Rounds

    /// Sends the prompt to authd with a new challenge; the previous challenge is withdrawn.
    private func beginRound(offering methods: AuthenticationMethods) throws(Refusal) {
        if let challenge = phase.round?.challenge { room.inbox.withdraw(challenge) }
        let challenge = try room.inbox.challenge(.prompt, for: caller.uid)
        trace.issued(challenge.nonce)
        let status = vault.status
        // If only a delay excludes the passcode, the prompt offers the passcode again after the delay.
        let isDelayed = status.secondsToWait > 0 && operation.requirement.acceptsPasscode && !methods.contains(.passcode)
        let reopensAt = isDelayed ? MachineClock.monotonic + UInt64(status.secondsToWait) * 1_000_000_000 : nil
        phase.begin(PromptRound(challenge: challenge, methods: methods, reopensAt: reopensAt))
        let isForPassword = operation.trial != nil
        let request = PromptRequest(
            prompt: pending.prompt, user: caller.uid, challenge: challenge, caller: name, operation: operation.kind, reason: reason,
            attempt: attempt, attemptsLeft: isForPassword ? PromptRequest.attemptsMax - attempt + 1 : status.attemptsLeft,
            methods: methods,
            state: isForPassword ? PromptState() : state(status, offering: methods), consent: operation.consent, titles: operation.titles,
            hold: operation.hold, change: operation.change)
        try room.prompts.ask(request, pending)
        trace.asked(challenge.nonce)
        if phase.isShown { awaitFinger() }
    }

    /// Returns what the prompt shows about the fingerprint and a delay.
    private func state(_ status: DeviceStatus, offering methods: AuthenticationMethods) -> PromptState {
        let finger: PromptState.Finger =
            if !operation.requirement.acceptsFinger { .notAsked } else if methods.contains(.finger) { .awaited } else {
                switch vault.fingerRefusal {
                case .biometryNotEnrolled, .biometryNotAvailable: .none
                default: .disabled
                }
            }
        return PromptState(
            finger: finger, fingersLeft: status.biometry.isReady ? status.biometry.missesLeft : 0, secondsToWait: status.secondsToWait)
    }

    /// Updates the fingerprint in the prompt.
    private func update(_ change: PromptUpdate.Change) {
        room.prompts.update(pending, PromptUpdate(change, fingersLeft: vault.status.biometry.missesLeft))
    }

    /// Shows a hint that would help the reader to read the finger.
    private func showHint(_ hint: FingerHint) {
        guard !hint.isAboutEnrollment else { return }
        room.prompts.update(pending, PromptUpdate(.hint, fingersLeft: vault.status.biometry.missesLeft, hint: hint))
    }

    /// Reports to the caller where the user is prompted, if that changed. From the first report on, the caller waits for the user.
    private func reportPlace(_ place: String) throws(Refusal) {
        guard place != reportedPlace else { return }
        do { try connection.report(place) } catch { throw callerGone() }
        reportedPlace = place
    }

    /// Starts to accept evidence, since the user sees the prompt now. Before that, the user would not know the purpose of a touch, and a
    /// touch intended for the prompt on the screen would satisfy one that is queued behind it.
    private func show(at place: String) throws(Refusal) {
        try reportPlace(place)
        phase.show()
        trace.shown()
        awaitFinger()
    }

    /// Has the reader look for a finger, unless the round does not offer it or the reader is already looking.
    private func awaitFinger() {
        guard methods.contains(.finger), phase.fingerNonce == nil, let nonce = try? Entropy.bytes(32) else { return }
        trace.issued(nonce)
        guard room.reader.ask(caller.uid, nonce: nonce, pending) else { return pending.report(.readerGone) }
        phase.awaitFinger(nonce)
        trace.askedReader(nonce)
    }

    /// Waits for the next event. Throws when the user's time has passed or the caller is gone.
    private func nextEvent() throws(Refusal) -> PromptEvent {
        while true {
            // Checked before each event, so that a peer that keeps sending reports cannot keep the prompt open.
            guard room.host.clock.boot < bootDeadline, MachineClock.monotonic < deadline else {
                end(.expired)
                throw Refusal(.userTimedOut)
            }
            if let event = pending.next() { return event }
            if pending.isAbandoned { throw Refusal(.noPromptAgent, "the prompt service ended; try again") }
            let reopensAt = phase.round?.reopensAt
            // A wrong passcode or application password may have been tried just before.
            ScratchMemory.scrubStack()
            switch pending.wakeup.wait(
                until: min(deadline, reopensAt ?? deadline), connection: connection.channel.socket, process: caller.process)
            {
            case .signaled: continue
            case .hungUp, .processEnded: throw callerGone()
            case .deadline: if reopensAt != nil { try offerPasscodeAgain() }
            }
        }
    }

    /// Offers the passcode again after a delay, if it is a further method.
    private func offerPasscodeAgain() throws(Refusal) {
        phase.clearReopening()
        guard case .prompt(let more) = vault.evaluate(operation.requirement, for: operation.protection, Evidence()), more != methods else {
            return
        }
        try beginRound(offering: methods.union(more.intersection(.passcode)))
    }

    private func callerGone() -> Refusal {
        end(.callerGone)
        return Refusal(.cancelled, "the caller is gone")
    }

    // MARK: Evidence

    /// Handles an agent's answer. Returns true when the operation may proceed.
    private func accept(_ answer: PromptAnswer, to challenge: PasscodeChallenge, _ gathered: OperationEvidence) throws(Refusal) -> Bool {
        switch answer {
        case .cancelled:
            end(.cancelled)
            throw Refusal(.cancelled)
        case .fallback:
            end(.cancelled)
            throw Refusal(.fallbackChosen)
        case .nobody: throw Refusal(.noPromptAgent)
        case .consent(let sealed, let choice):
            guard let consent = operation.consent, consent.choices.contains(choice) else {
                throw Refusal(.authenticationFailed, "this choice was not offered")
            }
            gathered.consent = choice
            return try accept(sealed, for: challenge, authorizing: .consent(consent, choice), gathered)
        case .passcode(let sealed):
            guard operation.consent == nil else { throw Refusal(.authenticationFailed, "this answer needs a choice") }
            guard operation.secretChange == nil else { throw Refusal(.authenticationFailed, "this answer needs a new secret") }
            return try accept(
                sealed, for: challenge, authorizing: SealBinding.ofAnswer(holding: operation.hold, making: operation.change), gathered)
        case .credential(let sealed, let new):
            guard let change = operation.change, operation.secretChange != nil else {
                throw Refusal(.authenticationFailed, "no new secret is accepted here")
            }
            return try accept(sealed, and: new, for: challenge, authorizing: .change(change, new: new), gathered)
        case .seen: throw Refusal(.authenticationFailed, "this prompt shows no recovery key")
        }
    }

    private func accept(
        _ sealed: SealedPasscode, and other: SealedPasscode? = nil, for challenge: PasscodeChallenge,
        authorizing binding: SealBinding?, _ gathered: OperationEvidence
    ) throws(Refusal) -> Bool {
        // A passcode for a prompt that the user cannot have seen ends the prompt, since the sender waits for a reply.
        guard phase.isShown, methods.contains(.passcode) else { throw Refusal(.authenticationFailed, "a passcode is not accepted here") }
        try room.inbox.use(challenge, for: caller.uid)
        trace.used(challenge.nonce)
        let passcode = try room.inbox.unseal(sealed, challenge, of: caller.uid, authorizing: binding)
        if let trial = operation.trial { return try accept(password: passcode, trial) }
        let change = operation.change.map { SealBinding.change($0) }
        var new: SecretBytes?
        if let other {
            let secret = try room.inbox.unseal(other, challenge, of: caller.uid, authorizing: change)
            try operation.secretChange?.checkSecret(secret)
            new = consume secret
        }
        do throws(Refusal) {
            try authenticate(passcode, gathered)
        } catch {
            trace.evidence(challenge.nonce, "passcode", isRight: false)
            if error.reason == .cancelled { end(.callerGone) }
            guard error.reason == .authenticationFailed else { throw error }
            vault.record(
                FailedAttempt(date: room.host.clock.referenceMicroseconds, purpose: .prompt, who: name.path ?? "an unknown program"))
            attempt += 1
            guard attempt <= PromptRequest.attemptsMax, error.secondsToWait ?? 0 == 0 else { throw error }
            try beginRound(offering: methods)
            return false
        }
        ScratchMemory.scrubStack()
        room.notifyEnvironmentChange(of: vault)
        gathered.evidence.passcode = vault.boot
        trace.evidence(challenge.nonce, "passcode", isRight: true)
        return try proceed(with: gathered, new.take(), challenge.nonce)
    }

    /// Verifies a passcode and adds its key to the evidence. The passcode itself is erased here, since the prompt may stay open.
    private func authenticate(_ passcode: consuming SecretBytes, _ gathered: OperationEvidence) throws(Refusal) {
        let entered = vault.lockMark
        gathered.passcodeKey = try vault.authenticate(passcode, for: connection.requester(for: caller))
        gathered.passcodeEntered = entered
    }

    /// Tries an application password. It is no evidence, and a wrong one does not count as a passcode attempt.
    private func accept(password: consuming SecretBytes, _ trial: PasswordTrial) throws(Refusal) -> Bool {
        do throws(Refusal) {
            try trial.run(password)
        } catch {
            if error.reason == .cancelled { end(.callerGone) }
            guard error.reason == .authenticationFailed, attempt < PromptRequest.attemptsMax else { throw error }
            attempt += 1
            try beginRound(offering: methods)
            return false
        }
        end(.accepted)
        return true
    }

    /// Handles the reader's verdict. Returns true when the operation may proceed.
    private func accept(_ verdict: ReaderVerdict, _ gathered: OperationEvidence) throws(Refusal) -> Bool {
        phase.stopAwaitingFinger()
        trace.verdict(verdict)
        // Another user's finger, or an outcome that was not requested, counts as a miss, so that it ends the prompt like any other miss and
        // cannot leave it waiting.
        switch verdict.user == caller.uid ? verdict.outcome : .missed {
        case .matched:
            do throws(Refusal) {
                gathered.evidence.finger = try vault.acceptFingerMatch(fingers: verdict.fingers)
            } catch {
                if methods == .finger { throw error }
                try stopOfferingFinger(.disabled)
                return false
            }
            update(.matched)
            // A fingerprint cannot express a choice, so it consents once.
            gathered.consent = .once
            trace.evidence(verdict.nonce, "finger", isRight: true)
            return try proceed(with: gathered, nil, verdict.nonce)
        case .missed, .enrolled, .notEnrolled, .changed:
            trace.evidence(verdict.nonce, "finger", isRight: false)
            vault.recordFingerMiss()
            // The prompt may stay open, and then accepts the passcode.
            room.notifyEnvironmentChange(of: vault)
            misses += 1
            if misses >= PromptRequest.attemptsMax || vault.fingerRefusal != nil {
                try stopOfferingFinger(.disabled)
            } else {
                update(.tryAgain)
                awaitFinger()
            }
            return false
        }
    }

    /// Returns to the reader its key for unlocking, which arrives with a match, since this prompt does not unlock.
    private func returnToReader(_ held: HeldSecret?, of user: UInt32) {
        guard let held, user == caller.uid else { return }
        if !room.reader.hold(user, held) { vault.handleReaderDisconnect() }
    }

    /// Continues without the fingerprint: with the passcode if the prompt accepts it, otherwise the prompt ends with a refusal.
    private func stopOfferingFinger(_ why: PromptUpdate.Change) throws(Refusal) {
        guard methods.contains(.finger) else { return }
        if let nonce = phase.stopAwaitingFinger() { room.reader.cancel(nonce) }
        update(why)
        let remaining = methods.subtracting(.finger)
        guard !remaining.isEmpty else { throw Refusal(vault.fingerRefusal ?? .authenticationFailed, "no finger matched") }
        try beginRound(offering: remaining)
    }

    /// Decides whether valid evidence suffices. Returns true when the operation may proceed.
    private func proceed(with gathered: OperationEvidence, _ new: consuming SecretBytes?, _ nonce: [UInt8]) throws(Refusal) -> Bool {
        switch vault.evaluate(operation.requirement, for: operation.protection, gathered.evidence) {
        case .allow:
            if let change = operation.secretChange {
                guard let new = new.take() else { throw Refusal(.authenticationFailed, "this answer needs a new secret") }
                try make(change, with: gathered, new)
            }
            if operation.kind == .unlock { try unlock(with: gathered) }
            end(.accepted)
            connection.allowing = (trace, nonce)
            return true
        case .refuse(let reason): throw Refusal(reason)
        case .prompt(let more):
            try beginRound(offering: more)
            return false
        }
    }
}
