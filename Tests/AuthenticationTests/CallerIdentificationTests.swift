import EnclaveWire
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationWire
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel
import VaubanUserWire

/// In system mode the room identifies its callers before it sends them anything.
@Suite struct CallerIdentificationTests {
    private static let vauban = CallerIdentity(
        .unknown(.interpreter), throughCommandLine: true, chain: ["/usr/bin/vauban", "/usr/bin/bash"])
    private static let program = CallerIdentity(
        .own, executable: ExecutableIdentity(path: "/home/a/x", device: 1, inode: 2, digest: [UInt8](repeating: 3, count: 32)),
        chain: ["/home/a/x"])

    private func room(_ identity: CallerIdentity, allowsTerminalPrompts: Bool = false) throws -> RoomFixture {
        try RoomFixture(identifies: true) { request, channel, _ in
            switch request {
            case .identify: try channel.send(header: EnclaveReply.identity(identity).encoded())
            case .user(.status):
                var status = DeviceStatus(
                    lock: .unlocked, cause: .started, since: 0, passcodeIsSet: true, attemptsLeft: 5, secondsToWait: 0, warnings: [])
                status.settings.allowsTerminalPrompts = allowsTerminalPrompts
                try channel.send(header: EnclaveReply.user(.status(status)).encoded())
            default: try channel.send(header: EnclaveReply.user(.done).encoded())
            }
        }
    }

    @Test("The caller is identified before anything is sent to it") func callerIsIdentifiedBeforeItsRequests() throws {
        let room = try room(Self.program)
        let caller = try room.caller()
        #expect(try room.enclave.requests.take() == .identify)
        #expect(try caller.ask(.lock) == .answered(.done, promptPlaces: []))
        #expect(try room.enclave.requests.take() == .user(.lock))
    }

    @Test("A caller about whom the enclave says something else is sent nothing") func unidentifiedCallerIsSentNothing() throws {
        for reply in [EnclaveReply.user(.done), .refused(Refusal(.badParameter)), .done] {
            let room = try RoomFixture(identifies: true) { _, channel, _ in try channel.send(header: reply.encoded()) }
            #expect(throws: HandshakeError.self) { try room.caller().ask(.lock) }
        }
    }

    private static let silent = Refusal(.unavailable, "The enclave does not answer")

    /// Checks that the callers of every role are told of the silent enclave, and served no further.
    private func expectSilence(_ handler: @escaping FakeEnclave.Handler) throws {
        let room = try RoomFixture(identifies: true, handler)
        func channel(_ role: AuthenticationRole) throws -> Channel {
            try room.address.connect(role: role.rawValue, within: ConnectionLimits.replyTime)
        }
        let caller = Caller(channel: try channel(.caller))
        #expect(try caller.ask(.lock) == .refused(Self.silent))
        #expect(throws: ChannelError.self) { try caller.ask(.lock) }
    }

    @Test("A caller whom the enclave did not identify because its connection ended is told so") func endedEnclaveIsNamed() throws {
        try expectSilence { _, channel, _ in channel.shutDown() }
        let room = try RoomFixture(identifies: true) { _, channel, _ in channel.shutDown() }
        // The refusal waits for the registration, which otherwise could not be sent.
        let agent = TestAgent(channel: try room.connect(.agent))
        #expect(throws: ChannelError.self) { _ = try agent.channel.receive(.after(1_000_000)) }
        try agent.send(.register(.everyCaller, place: "a test"))
        guard case .refused(Self.silent) = try agent.next().notice else { throw Unexpected(what: "no refusal") }
        let watcher = try room.connect(.watcher)
        #expect(try EnvironmentNotice(derBytes: watcher.receive(.after(HangLimit.nanoseconds)).header) == .refused(Self.silent))
    }

    @Test("A silent enclave is named by the room before its client gives up") func silentEnclaveIsNamed() throws {
        try expectSilence { _, _, _ in }
    }

    /// Returns the reply to a caller whose connection to the enclave breaks, and which process has the second identity afterwards.
    private func answer(to first: CallerIdentity, then second: CallerIdentity) throws -> AuthenticationReply {
        let (isFirst, breaks) = (Countdown(1), Countdown(1))
        let room = try RoomFixture(identifies: true) { request, channel, _ in
            if request == .identify {
                return try channel.send(header: EnclaveReply.identity(isFirst.next() ? first : second).encoded())
            }
            if breaks.next() { return channel.shutDown() }
            try channel.send(header: EnclaveReply.user(.done).encoded())
        }
        return try room.caller().ask(.lock)
    }

    @Test("A caller remains who it is when the programs that started it have ended") func callerOfOtherParentsIsTheSame() throws {
        let names = ["a", "b"].map { CallerIdentity(.flatpak(name: $0), parents: ["/usr/bin/bash", "/usr/sbin/sshd"]) }
        #expect(try answer(to: names[0], then: names[0].withoutParents) == .answered(.done, promptPlaces: []))
        guard case .refused(let refusal) = try answer(to: names[0], then: names[1]) else { throw Unexpected(what: "no refusal") }
        #expect(refusal.reason == .notAllowedHere)
    }

    @Test("Only Vauban prompts on its own terminal by default") func onlyVaubanPromptsOnItsOwnTerminal() throws {
        _ = try room(Self.vauban).agent(.ownProcess)
        _ = try room(Self.program, allowsTerminalPrompts: true).agent(.ownProcess)
        _ = try room(Self.program).agent(.everyCaller)
        let refusing = try room(Self.program)
        let agent = TestAgent(channel: try refusing.address.connect(role: AuthenticationRole.agent.rawValue))
        try agent.send(.register(.ownProcess, place: "its own terminal"))
        guard case .refused(let refusal) = try agent.next().notice else { throw Unexpected(what: "no refusal") }
        #expect(refusal.reason == .notAllowedHere)
    }
}
