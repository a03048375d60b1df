import EnclaveWire
import Glibc
import TestSupport
import Testing
import VaubanAuthenticationWire
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel
import VaubanUserWire

/// Prompts between a caller, the enclave and agents, over sockets.
@Suite struct PromptFlowTests {
    private let user = geteuid()

    @Test("A prompt goes to the agent, and the answers come back") func aPromptGoesToTheAgentAndItsAnswersBack() throws {
        let room = try RoomFixture()
        let line = try room.enclave.attention.take()
        let agent = try room.agent(at: "vauban approve on pts/3")
        let question = Sample.question(1, of: user)
        try room.enclave.ask(question, over: line)
        #expect(try agent.question() == question)
        #expect(try room.enclave.reports.take() == .shown(prompt: question.prompt, place: "vauban approve on pts/3"))
        try agent.answer(question, Sample.passcode)
        #expect(try room.enclave.reports.take() == .answered(prompt: question.prompt, challenge: question.challenge.nonce, Sample.passcode))
        let again = Sample.question(1, of: user, attempt: 2)
        try room.enclave.ask(again, over: line)
        #expect(try agent.question() == again)
        try agent.answer(again, .cancelled)
        #expect(try room.enclave.reports.take() == .answered(prompt: again.prompt, challenge: again.challenge.nonce, .cancelled))
        try line.send(header: PromptNotice.resolved(prompt: again.prompt, .cancelled).encoded())
        #expect(try agent.next().notice == .resolved(prompt: again.prompt, .cancelled))
    }

    /// The enclave hears that the second is shown when the first has ended, and not before.
    @Test("A queued prompt is shown when it is first") func queuedPromptIsShownInTurn() throws {
        let room = try RoomFixture()
        let line = try room.enclave.attention.take()
        let agent = try room.agent(at: "here")
        let (first, second) = (Sample.question(1, of: user), Sample.question(2, of: user))
        try room.enclave.ask(first, over: line)
        try room.enclave.ask(second, over: line)
        #expect(try agent.question() == first)
        #expect(try room.enclave.reports.take() == .shown(prompt: first.prompt, place: "here"))
        #expect(try room.enclave.reports.take() == .waiting(prompt: second.prompt, place: "here"))
        try agent.answer(first, .cancelled)
        #expect(try room.enclave.reports.take() == .answered(prompt: first.prompt, challenge: first.challenge.nonce, .cancelled))
        try line.send(header: PromptNotice.resolved(prompt: first.prompt, .cancelled).encoded())
        #expect(try agent.next().notice == .resolved(prompt: first.prompt, .cancelled))
        #expect(try agent.question() == second)
        #expect(try room.enclave.reports.take() == .shown(prompt: second.prompt, place: "here"))
    }

    /// Messages that one receive brings together keep their own descriptors, on the line and at the agent.
    @Test("A prompt shown after another one's end has its key card") func aPromptRightBehindAnothersEndComesWithItsKeyCard() throws {
        let room = try RoomFixture()
        let line = try room.enclave.attention.take()
        let agent = try room.agent()
        for number in stride(from: UInt8(1), to: 40, by: 2) {
            let first = Sample.question(number, of: user)
            let second = Sample.question(number + 1, of: user)
            try room.enclave.ask(first, over: line)
            try room.enclave.ask(second, over: line)
            try line.send(header: PromptNotice.resolved(prompt: first.prompt, .callerGone).encoded())
            try line.send(header: PromptNotice.resolved(prompt: second.prompt, .callerGone).encoded())
            for shown in [first, second] {
                #expect(try agent.question() == shown)
                #expect(try agent.next().notice == .resolved(prompt: shown.prompt, .callerGone))
            }
        }
    }

    @Test("Without an agent the enclave is told at once") func withoutAnAgentTheEnclaveHearsItAtOnce() throws {
        let room = try RoomFixture()
        let line = try room.enclave.attention.take()
        let question = Sample.question(1, of: user)
        try room.enclave.ask(question, over: line)
        #expect(try room.enclave.reports.take() == .answered(prompt: question.prompt, challenge: question.challenge.nonce, .nobody))
    }

    @Test("An agent receives no prompts of other users") func anAgentIsNotAskedForAnotherUser() throws {
        let room = try RoomFixture()
        let line = try room.enclave.attention.take()
        let agent = try room.agent()
        let foreign = Sample.question(1, of: user + 1)
        try room.enclave.ask(foreign, over: line)
        #expect(try room.enclave.reports.take() == .answered(prompt: foreign.prompt, challenge: foreign.challenge.nonce, .nobody))
        let own = Sample.question(2, of: user)
        try room.enclave.ask(own, over: line)
        #expect(try agent.question() == own)
    }

    @Test("A dead agent's prompt goes to the next one") func promptOfAnEndedAgentGoesToTheNext() throws {
        let room = try RoomFixture()
        let line = try room.enclave.attention.take()
        let old = try room.agent(at: "old")
        let new = try room.agent(at: "new")
        let question = Sample.question(1, of: user)
        try room.enclave.ask(question, over: line)
        #expect(try new.question() == question)
        new.channel.shutDown()
        #expect(try old.question() == question)
        old.channel.shutDown()
        let reports = try (0..<3).map { _ in try room.enclave.reports.take() }
        #expect(
            reports == [
                .shown(prompt: question.prompt, place: "new"), .shown(prompt: question.prompt, place: "old"),
                .answered(prompt: question.prompt, challenge: question.challenge.nonce, .nobody),
            ])
    }

    @Test("A forged answer disconnects the agent, not the prompt") func aForgedAnswerEndsTheAgentAndNotThePrompt() throws {
        let room = try RoomFixture()
        let line = try room.enclave.attention.take()
        let honest = try room.agent(at: "honest")
        let forger = try room.agent(at: "forger")
        let question = Sample.question(1, of: user)
        try room.enclave.ask(question, over: line)
        #expect(try forger.question() == question)
        try forger.send(.answer(prompt: question.prompt, challenge: Sample.nonce(99), Sample.passcode))
        guard case .refused(let refusal) = try forger.next().notice else { throw Unexpected(what: "no refusal") }
        #expect(refusal.reason == .notAllowedHere)
        #expect(throws: ChannelError.self) { try forger.next() }
        #expect(try honest.question() == question)
    }

    @Test(arguments: [
        AgentMessage.answer(prompt: Sample.prompt(1), challenge: Sample.nonce(1), .cancelled),
        .register(.everyCaller, place: "two\nlines"), .register(.everyCaller, place: "a \u{1B}[31m colour"),
        .register(.everyCaller, place: ""), .register(.everyCaller, place: "here \u{202E}emos"),
        .register(.everyCaller, place: "here\u{200B}"),
    ])
    func anAgentIntroducesItselfProperly(_ message: AgentMessage) throws {
        let room = try RoomFixture()
        let agent = TestAgent(channel: try room.address.connect(role: AuthenticationRole.agent.rawValue))
        try agent.send(message)
        guard case .refused = try agent.next().notice else { throw Unexpected(what: "no refusal") }
        #expect(throws: ChannelError.self) { try agent.next() }
    }

    @Test("An evaluation reports the place, then the result") func evaluationReportsItsPromptAndItsOutcome() throws {
        let room = try RoomFixture { _, line, _ in
            try line.send(header: EnclaveReply.waitingForUser(place: "first").encoded())
            try line.send(header: EnclaveReply.waitingForUser(place: "second").encoded())
            try line.send(header: EnclaveReply.refused(Refusal(.cancelled)).encoded())
        }
        let caller = try room.caller()
        #expect(try caller.ask(.evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "why"))) == .waitingForUser("first"))
        #expect(try caller.reply() == .waitingForUser("second"))
        #expect(try caller.reply() == .refused(Refusal(.cancelled)))
    }

    @Test("A caller that hangs up ends its prompt") func aCallerThatHangsUpTakesItsPromptWithIt() throws {
        let room = try RoomFixture { _, line, _ in try line.send(header: EnclaveReply.waitingForUser(place: "here").encoded()) }
        let caller = try room.caller()
        #expect(try caller.ask(.evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "why"))) == .waitingForUser("here"))
        caller.channel.shutDown()
        try room.enclave.ended.take()
    }

    @Test("While one caller waits, another is served") func whileOneCallerWaitsAnotherIsServed() throws {
        let room = try RoomFixture { request, line, _ in
            guard case .user(.evaluate) = request else { return try line.send(header: EnclaveReply.user(.done).encoded()) }
            try line.send(header: EnclaveReply.waitingForUser(place: "here").encoded())
        }
        let waiting = try room.caller()
        #expect(try waiting.ask(.evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "why"))) == .waitingForUser("here"))
        #expect(try room.caller().ask(.lock) == .answered(.done, promptPlaces: []))
        withExtendedLifetime(waiting) {}
    }

    @Test func enclaveEndDuringAPromptIsUnavailableAndIsNotRetried() throws {
        let room = try RoomFixture { _, line, _ in
            try line.send(header: EnclaveReply.waitingForUser(place: "here").encoded())
            line.shutDown()
        }
        let caller = try room.caller()
        #expect(try caller.ask(.evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "why"))) == .waitingForUser("here"))
        #expect(try caller.reply() == .refused(Refusal(.unavailable)))
        _ = try room.enclave.requests.take()
        #expect(try caller.ask(.evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "again"))) == .waitingForUser("here"))
        #expect(try room.enclave.requests.take() == .user(.evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "again"))))
    }

    @Test("authd reconnects to the enclave, and old prompts are withdrawn") func standingConnectionIsReopenedAndOldPromptsEnd()
        throws
    {
        let room = try RoomFixture()
        let line = try room.enclave.attention.take()
        let agent = try room.agent()
        let question = Sample.question(1, of: user)
        try room.enclave.ask(question, over: line)
        #expect(try agent.question() == question)
        line.shutDown()
        #expect(try agent.next().notice == .resolved(prompt: question.prompt, .expired))
        let next = try room.enclave.attention.take()
        let other = Sample.question(2, of: user)
        try room.enclave.ask(other, over: next)
        #expect(try agent.question() == other)
    }

    @Test("An agent that does not read is disconnected") func agentThatDoesNotReadIsDisconnected() throws {
        let room = try RoomFixture()
        let line = try room.enclave.attention.take()
        let deaf = try room.agent(at: "deaf")
        // Each prompt comes and goes, and nothing of it is read; at some point the room stops writing.
        let reason = String(repeating: "x", count: 1000)
        var wasLetGo = false
        for number in 0..<2000 where !wasLetGo {
            let question = PromptQuestion(
                prompt: withUnsafeBytes(of: UInt64(number)) { Array($0) + Array($0) }, user: user,
                challenge: PasscodeChallenge(nonce: Sample.nonce(1), purpose: .prompt), caller: CallerName(pid: 50, path: reason),
                operation: .readItem, reason: reason, attempt: 1, attemptsLeft: 5)
            try room.enclave.ask(question, over: line)
            try line.send(header: PromptNotice.resolved(prompt: question.prompt, .callerGone).encoded())
            if case .answered(_, _, .nobody) = try room.enclave.reports.take() { wasLetGo = true }
        }
        #expect(wasLetGo)
        withExtendedLifetime(deaf) {}
    }
}
