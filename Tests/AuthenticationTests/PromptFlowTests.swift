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
        let channel = try room.enclave.promptConnections.take()
        let agent = try room.agent(at: "vauban approve on pts/3")
        let request = Sample.request(1, of: user)
        try room.enclave.ask(request, over: channel)
        #expect(try agent.nextRequest() == request)
        #expect(try room.enclave.reports.take() == .shown(prompt: request.prompt, place: "vauban approve on pts/3"))
        try agent.answer(request, Sample.passcode)
        #expect(try room.enclave.reports.take() == .answered(prompt: request.prompt, challenge: request.challenge.nonce, Sample.passcode))
        let again = Sample.request(1, of: user, attempt: 2)
        try room.enclave.ask(again, over: channel)
        #expect(try agent.nextRequest() == again)
        try agent.answer(again, .cancelled)
        #expect(try room.enclave.reports.take() == .answered(prompt: again.prompt, challenge: again.challenge.nonce, .cancelled))
        try channel.send(header: PromptNotice.resolved(prompt: again.prompt, .cancelled).encoded())
        #expect(try agent.next().notice == .resolved(prompt: again.prompt, .cancelled))
    }

    /// authd reports the second prompt as shown when the first has ended, and not before.
    @Test("A queued prompt is shown when it is first") func queuedPromptIsShownInTurn() throws {
        let room = try RoomFixture()
        let channel = try room.enclave.promptConnections.take()
        let agent = try room.agent(at: "here")
        let (first, second) = (Sample.request(1, of: user), Sample.request(2, of: user))
        try room.enclave.ask(first, over: channel)
        try room.enclave.ask(second, over: channel)
        #expect(try agent.nextRequest() == first)
        #expect(try room.enclave.reports.take() == .shown(prompt: first.prompt, place: "here"))
        #expect(try room.enclave.reports.take() == .waiting(prompt: second.prompt, place: "here"))
        try agent.answer(first, .cancelled)
        #expect(try room.enclave.reports.take() == .answered(prompt: first.prompt, challenge: first.challenge.nonce, .cancelled))
        try channel.send(header: PromptNotice.resolved(prompt: first.prompt, .cancelled).encoded())
        #expect(try agent.next().notice == .resolved(prompt: first.prompt, .cancelled))
        #expect(try agent.nextRequest() == second)
        #expect(try room.enclave.reports.take() == .shown(prompt: second.prompt, place: "here"))
    }

    /// A prompt that the user does not see must not be reported as shown: the reader would accept a finger for it.
    @Test("An agent that still shows a recovery key receives no other prompt until the user confirms the key")
    func agentThatShowsARecoveryKeyReceivesNoPrompt() throws {
        let room = try RoomFixture()
        let channel = try room.enclave.promptConnections.take()
        let agent = try room.agent(at: "here")
        let (asked, made) = (
            Sample.request(1, of: user, change: .makeRecoveryKey),
            Sample.request(1, of: user, attempt: 2, change: .makeRecoveryKey, isMade: true)
        )
        try room.enclave.ask(asked, over: channel)
        #expect(try agent.nextRequest() == asked)
        #expect(try room.enclave.reports.take() == .shown(prompt: asked.prompt, place: "here"))
        try agent.answer(asked, Sample.passcode)
        #expect(try room.enclave.reports.take() == .answered(prompt: asked.prompt, challenge: asked.challenge.nonce, Sample.passcode))
        try room.enclave.ask(made, over: channel)
        #expect(try agent.nextRequest() == made)
        // Queued behind it, and without a place when the key stays longer than the prompt.
        let (queued, late, later) = (Sample.request(2, of: user), Sample.request(3, of: user), Sample.request(4, of: user))
        try room.enclave.ask(queued, over: channel)
        #expect(try room.enclave.reports.take() == .waiting(prompt: queued.prompt, place: "here"))
        try channel.send(header: PromptNotice.resolved(prompt: made.prompt, .expired).encoded())
        #expect(try room.enclave.reports.take() == .answered(prompt: queued.prompt, challenge: queued.challenge.nonce, .nobody))
        try room.enclave.ask(late, over: channel)
        #expect(try room.enclave.reports.take() == .answered(prompt: late.prompt, challenge: late.challenge.nonce, .nobody))
        #expect(try agent.next().notice == .resolved(prompt: made.prompt, .expired))
        try agent.answer(made, .seen)
        // The answer and the next prompt are on two connections: until the answer has arrived, there is no agent for the prompt.
        var report: PromptReport
        repeat {
            try room.enclave.ask(later, over: channel)
            report = try room.enclave.reports.take()
        } while report == .answered(prompt: later.prompt, challenge: later.challenge.nonce, .nobody)
        #expect(report == .shown(prompt: later.prompt, place: "here"))
        #expect(try agent.nextRequest() == later)
    }

    /// Messages that arrive in one receive keep their own descriptors, on the standing connection and at the agent.
    @Test("A prompt that immediately follows another one arrives with its own key card")
    func promptThatFollowsAnotherHasItsKeyCard() throws {
        let room = try RoomFixture()
        let channel = try room.enclave.promptConnections.take()
        let agent = try room.agent()
        for number in stride(from: UInt8(1), to: 40, by: 2) {
            let first = Sample.request(number, of: user)
            let second = Sample.request(number + 1, of: user)
            try room.enclave.ask(first, over: channel)
            try room.enclave.ask(second, over: channel)
            try channel.send(header: PromptNotice.resolved(prompt: first.prompt, .callerGone).encoded())
            try channel.send(header: PromptNotice.resolved(prompt: second.prompt, .callerGone).encoded())
            for shown in [first, second] {
                #expect(try agent.nextRequest() == shown)
                #expect(try agent.next().notice == .resolved(prompt: shown.prompt, .callerGone))
            }
        }
    }

    @Test("authd reports to the enclave at once that there is no agent") func missingAgentIsReportedAtOnce() throws {
        let room = try RoomFixture()
        let channel = try room.enclave.promptConnections.take()
        let request = Sample.request(1, of: user)
        try room.enclave.ask(request, over: channel)
        #expect(try room.enclave.reports.take() == .answered(prompt: request.prompt, challenge: request.challenge.nonce, .nobody))
    }

    @Test("An agent receives no prompts of other users") func agentReceivesNoPromptsOfOtherUsers() throws {
        let room = try RoomFixture()
        let channel = try room.enclave.promptConnections.take()
        let agent = try room.agent()
        let foreign = Sample.request(1, of: user + 1)
        try room.enclave.ask(foreign, over: channel)
        #expect(try room.enclave.reports.take() == .answered(prompt: foreign.prompt, challenge: foreign.challenge.nonce, .nobody))
        let own = Sample.request(2, of: user)
        try room.enclave.ask(own, over: channel)
        #expect(try agent.nextRequest() == own)
    }

    @Test("The prompt of an agent that ends goes to the next agent") func promptOfAnEndedAgentGoesToTheNext() throws {
        let room = try RoomFixture()
        let channel = try room.enclave.promptConnections.take()
        let old = try room.agent(at: "old")
        let new = try room.agent(at: "new")
        let request = Sample.request(1, of: user)
        try room.enclave.ask(request, over: channel)
        #expect(try new.nextRequest() == request)
        new.channel.shutDown()
        #expect(try old.nextRequest() == request)
        old.channel.shutDown()
        let reports = try (0..<3).map { _ in try room.enclave.reports.take() }
        #expect(
            reports == [
                .shown(prompt: request.prompt, place: "new"), .shown(prompt: request.prompt, place: "old"),
                .answered(prompt: request.prompt, challenge: request.challenge.nonce, .nobody),
            ])
    }

    @Test("A forged answer disconnects the agent, not the prompt") func aForgedAnswerEndsTheAgentAndNotThePrompt() throws {
        let room = try RoomFixture()
        let channel = try room.enclave.promptConnections.take()
        let honest = try room.agent(at: "honest")
        let forger = try room.agent(at: "forger")
        let request = Sample.request(1, of: user)
        try room.enclave.ask(request, over: channel)
        #expect(try forger.nextRequest() == request)
        try forger.send(.answer(prompt: request.prompt, challenge: Sample.nonce(99), Sample.passcode))
        guard case .refused(let refusal) = try forger.next().notice else { throw Unexpected(what: "no refusal") }
        #expect(refusal.reason == .notAllowedHere)
        #expect(throws: ChannelError.self) { try forger.next() }
        #expect(try honest.nextRequest() == request)
    }

    @Test(
        "An agent with an invalid registration is refused",
        arguments: [
            AgentMessage.answer(prompt: Sample.prompt(1), challenge: Sample.nonce(1), .cancelled),
            .register(.everyCaller, place: "two\nlines"), .register(.everyCaller, place: "a \u{1B}[31m colour"),
            .register(.everyCaller, place: ""), .register(.everyCaller, place: "here \u{202E}emos"),
            .register(.everyCaller, place: "here\u{200B}"),
        ])
    func agentWithAnInvalidRegistrationIsRefused(_ message: AgentMessage) throws {
        let room = try RoomFixture()
        let agent = TestAgent(channel: try room.address.connect(role: AuthenticationRole.agent.rawValue))
        try agent.send(message)
        guard case .refused = try agent.next().notice else { throw Unexpected(what: "no refusal") }
        #expect(throws: ChannelError.self) { try agent.next() }
    }

    @Test("An evaluation reports each place of its prompt, and then its result") func evaluationReportsItsPlacesAndItsResult() throws {
        let room = try RoomFixture { _, channel, _ in
            try channel.send(header: EnclaveReply.waitingForUser(place: "first").encoded())
            try channel.send(header: EnclaveReply.waitingForUser(place: "second").encoded())
            try channel.send(header: EnclaveReply.refused(Refusal(.cancelled)).encoded())
        }
        let caller = try room.caller()
        #expect(try caller.ask(.evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "why"))) == .waitingForUser("first"))
        #expect(try caller.reply() == .waitingForUser("second"))
        #expect(try caller.reply() == .refused(Refusal(.cancelled)))
    }

    @Test("A caller that hangs up ends its prompt") func callerThatHangsUpEndsItsPrompt() throws {
        let room = try RoomFixture { _, channel, _ in try channel.send(header: EnclaveReply.waitingForUser(place: "here").encoded()) }
        let caller = try room.caller()
        #expect(try caller.ask(.evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "why"))) == .waitingForUser("here"))
        caller.channel.shutDown()
        try room.enclave.ended.take()
    }

    @Test("While one caller waits, another is served") func whileOneCallerWaitsAnotherIsServed() throws {
        let room = try RoomFixture { request, channel, _ in
            guard case .user(.evaluate) = request else { return try channel.send(header: EnclaveReply.user(.done).encoded()) }
            try channel.send(header: EnclaveReply.waitingForUser(place: "here").encoded())
        }
        let waiting = try room.caller()
        #expect(try waiting.ask(.evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "why"))) == .waitingForUser("here"))
        #expect(try room.caller().ask(.lock) == .answered(.done, promptPlaces: []))
        withExtendedLifetime(waiting) {}
    }

    @Test("If the enclave ends during a prompt, the service is unavailable and nothing is repeated")
    func enclaveEndDuringAPromptIsUnavailableAndIsNotRetried() throws {
        let room = try RoomFixture { _, channel, _ in
            try channel.send(header: EnclaveReply.waitingForUser(place: "here").encoded())
            channel.shutDown()
        }
        let caller = try room.caller()
        #expect(try caller.ask(.evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "why"))) == .waitingForUser("here"))
        #expect(try caller.reply() == .refused(Refusal(.unavailable, "The enclave does not answer")))
        _ = try room.enclave.requests.take()
        #expect(try caller.ask(.evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "again"))) == .waitingForUser("here"))
        #expect(try room.enclave.requests.take() == .user(.evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "again"))))
    }

    @Test("After authd reconnects to the enclave, old prompts are withdrawn") func standingConnectionIsReopenedAndOldPromptsEnd()
        throws
    {
        let room = try RoomFixture()
        let channel = try room.enclave.promptConnections.take()
        let agent = try room.agent()
        let request = Sample.request(1, of: user)
        try room.enclave.ask(request, over: channel)
        #expect(try agent.nextRequest() == request)
        channel.shutDown()
        #expect(try agent.next().notice == .resolved(prompt: request.prompt, .expired))
        let next = try room.enclave.promptConnections.take()
        let other = Sample.request(2, of: user)
        try room.enclave.ask(other, over: next)
        #expect(try agent.nextRequest() == other)
    }

    @Test("An agent that does not read is disconnected") func agentThatDoesNotReadIsDisconnected() throws {
        let room = try RoomFixture()
        let channel = try room.enclave.promptConnections.take()
        let deaf = try room.agent(at: "deaf")
        // Each prompt appears and ends, and the agent reads nothing; at some point the room stops writing.
        let reason = String(repeating: "x", count: 1000)
        var wasLetGo = false
        for number in 0..<2000 where !wasLetGo {
            let request = PromptRequest(
                prompt: withUnsafeBytes(of: UInt64(number)) { Array($0) + Array($0) }, user: user,
                challenge: PasscodeChallenge(nonce: Sample.nonce(1), purpose: .prompt), caller: CallerName(pid: 50, path: reason),
                operation: .readItem, reason: reason, attempt: 1, attemptsLeft: 5)
            try room.enclave.ask(request, over: channel)
            try channel.send(header: PromptNotice.resolved(prompt: request.prompt, .callerGone).encoded())
            if case .answered(_, _, .nobody) = try room.enclave.reports.take() { wasLetGo = true }
        }
        #expect(wasLetGo)
        withExtendedLifetime(deaf) {}
    }
}
