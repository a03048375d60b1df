import EnclaveWire
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationWire
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel
import VaubanUserWire

/// The callers' socket of authd.
@Suite struct CallerConnectionTests {
    private static let challenge = PasscodeChallenge(nonce: Sample.nonce(1), purpose: .unlock)
    private static let sealed = SealedPasscode(encapsulated: Sample.nonce(2), ciphertext: Sample.nonce(3))
    private static let status = DeviceStatus(
        lock: .locked, cause: .lockRequested, since: 5, passcodeIsSet: true, attemptsLeft: 4, secondsToWait: 0, warnings: ["a warning"])

    @Test("Each request reaches the enclave unchanged") func eachRequestReachesTheEnclaveUnchanged() throws {
        let credentials: [CredentialRequest] = [
            .setPasscode(recoveryKey: nil), .changePasscode(new: Self.sealed, rolls: true), .removePasscode, .erase,
            .recover(new: Self.sealed, newRecoveryKey: nil), .setRecoveryKey(nil), .configure(.standard), .enroll(unlocks: true),
            .forgetFingers, .confirmRecoveryKey,
        ]
        let requests: [UserRequest] =
            credentials.map { .credential($0, Self.challenge, authority: Self.sealed) }
            + [
                .unlockByFinger, .unlockByPrompt(reason: "a reason"), .changeByPrompt(.enroll(unlocks: true)),
                .unlock(Self.challenge, Self.sealed), .lock,
                .eraseWithoutPasscode(Self.challenge),
            ]
        let room = try RoomFixture()
        let caller = try room.caller()
        for request in requests {
            #expect(try caller.ask(request) == .answered(.done, promptPlaces: []))
            #expect(try room.enclave.requests.take() == .user(request))
        }
    }

    @Test("The result of an evaluation reaches the caller") func resultOfAnEvaluationReachesTheCaller() throws {
        let result = EvaluationResult(authorization: [UInt8](repeating: 1, count: 32), domainState: [UInt8](repeating: 2, count: 32))
        let room = try RoomFixture { _, channel, _ in try channel.send(header: EnclaveReply.user(.evaluated(result)).encoded()) }
        let caller = try room.caller()
        let evaluation = Evaluation(
            .control(try AccessControl(protection: .whenUnlocked, flags: .userPresence), .useItem), reason: "why", mayPrompt: false,
            reuseSeconds: 300,
            titles: PromptTitles(cancel: "no", fallback: ""), authorization: [UInt8](repeating: 3, count: 32))
        #expect(try caller.ask(.evaluate(evaluation)) == .answered(.evaluated(result), promptPlaces: []))
        #expect(try room.enclave.requests.take() == .user(.evaluate(evaluation)))
    }

    /// A prompt that cannot be shown cannot succeed, so the program learns this beforehand.
    @Test("Without an agent no policy can be evaluated") func policyCannotBeEvaluatedWithoutAnAgent() throws {
        let room = try RoomFixture { _, channel, _ in try channel.send(header: EnclaveReply.user(.evaluated(EvaluationResult())).encoded())
        }
        let caller = try room.caller()
        #expect(try caller.ask(.canEvaluate(.biometryOrPasscode)) == .refused(Refusal(.noPromptAgent)))
        let agent = try room.agent()
        #expect(try caller.ask(.canEvaluate(.biometryOrPasscode)) == .answered(.evaluated(EvaluationResult()), promptPlaces: ["a test"]))
        withExtendedLifetime(agent) {}
    }

    @Test("The status names the place where prompts would appear") func statusNamesThePromptAgent() throws {
        let room = try RoomFixture { _, channel, _ in try channel.send(header: EnclaveReply.user(.status(Self.status)).encoded()) }
        let caller = try room.caller()
        #expect(try caller.ask(.status) == .answered(.status(Self.status), promptPlaces: []))
        let own = try room.agent(.ownProcess, at: "own")
        let terminal = try room.agent(at: "vauban approve")
        #expect(try caller.ask(.status) == .answered(.status(Self.status), promptPlaces: ["vauban approve", "own"]))
        withExtendedLifetime((own, terminal)) {}
    }

    @Test("The key card of the enclave reaches the caller") func keyCardReachesTheCaller() throws {
        let room = try RoomFixture { _, channel, enclave in
            try channel.send(header: EnclaveReply.user(.challenge(Self.challenge)).encoded(), descriptors: [enclave.keyCard])
        }
        let caller = try room.caller()
        try caller.channel.send(header: UserRequest.challenge(.unlock).encoded())
        let message = try caller.channel.receive(.after(HangLimit.nanoseconds))
        #expect(try AuthenticationReply(derBytes: message.header) == .answered(.challenge(Self.challenge), promptPlaces: []))
        #expect(message.descriptors.count == 1)
        #expect(SealedMemory.bytes(of: message.descriptors[0], madeBy: geteuid(), max: 64) == FakeEnclave.keyCardBytes)
    }

    @Test("Refusals by the enclave reach the caller") func refusalsReachTheCaller() throws {
        let refusal = Refusal(.authenticationFailed, attemptsLeft: 3)
        let room = try RoomFixture { _, channel, _ in try channel.send(header: EnclaveReply.refused(refusal).encoded()) }
        #expect(try room.caller().ask(.unlock(Self.challenge, Self.sealed)) == .refused(refusal))
    }

    @Test("A reply that does not match the request is an internal error") func replyThatDoesNotMatchIsAnInternalError() throws {
        let room = try RoomFixture { _, channel, _ in try channel.send(header: EnclaveReply.opened.encoded()) }
        #expect(try room.caller().ask(.lock) == .refused(Refusal(.internalError)))
    }

    @Test(
        "Malformed bytes from a caller end only its connection",
        arguments: [
            [0x30, 0x03, 0x02, 0x01, 0x02],
            [0x30, 0x05, 0x02, 0x01, 0x01, 0xA0, 0x00],
            [0x30, 0x05, 0x02, 0x01, 0x03, 0xA0, 0x00],
            [0x30, 0x05, 0x02, 0x01, 0x02, 0xA0, 0x00, 0x00],
            [0x04, 0x01, 0x00],
            [0xFF],
        ] as [[UInt8]])
    func malformedBytesEndThatConnectionOnly(_ bytes: [UInt8]) throws {
        let room = try RoomFixture()
        let other = try room.caller()
        #expect(try other.ask(.lock) == .answered(.done, promptPlaces: []))
        let caller = try room.caller()
        try caller.channel.send(header: bytes)
        guard case .refused(let refusal) = try caller.reply() else { throw Unexpected(what: "no refusal") }
        #expect(refusal.reason == .malformed)
        #expect(throws: ChannelError.self) { try caller.reply() }
        #expect(try other.ask(.lock) == .answered(.done, promptPlaces: []))
    }

    @Test("An oversized message is refused") func anOversizedMessageIsRefused() throws {
        let room = try RoomFixture()
        let caller = try room.caller()
        let lengths: [UInt8] = [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]
        #expect(write(caller.channel.socket.number, lengths, lengths.count) == lengths.count)
        guard case .refused(let refusal) = try caller.reply() else { throw Unexpected(what: "no refusal") }
        #expect(refusal.reason == .malformed)
    }

    @Test("A request with a secret or descriptor is refused") func requestWithUnexpectedDescriptorsIsRefused() throws {
        let room = try RoomFixture()
        let caller = try room.caller()
        try caller.channel.send(header: UserRequest.lock.encoded(), descriptors: [try ProcessDescriptor.ofSelf()])
        guard case .refused(let refusal) = try caller.reply() else { throw Unexpected(what: "no refusal") }
        #expect(refusal.reason == .malformed)
    }

    @Test("An unknown request is refused by name and the connection continues") func unknownRequestIsRefusedAndTheConnectionContinues()
        throws
    {
        let room = try RoomFixture()
        let caller = try room.caller()
        try caller.channel.send(header: [0x30, 0x06, 0x02, 0x01, 0x02, 0xBF, 0x63, 0x00])
        guard case .refused(let refusal) = try caller.reply() else { throw Unexpected(what: "no refusal") }
        #expect(refusal.reason == .unknownRequest)
        #expect(refusal.detail?.contains("99") == true)
        #expect(try caller.ask(.lock) == .answered(.done, promptPlaces: []))
    }

    @Test("An unknown role is refused by name") func anUnknownRoleIsRefusedByName() throws {
        let room = try RoomFixture()
        let caller = Caller(channel: try room.address.connect(role: 7))
        guard case .refused(let refusal) = try caller.reply() else { throw Unexpected(what: "no refusal") }
        #expect(refusal.reason == .unknownRequest)
    }

    @Test("A broken connection to the enclave is reopened once") func brokenConnectionIsReopenedOnce() throws {
        let breaks = Countdown(1)
        let room = try RoomFixture { _, channel, _ in
            if breaks.next() { return channel.shutDown() }
            try channel.send(header: EnclaveReply.user(.done).encoded())
        }
        #expect(try room.caller().ask(.lock) == .answered(.done, promptPlaces: []))
    }

    @Test("An enclave whose replies cannot be read is not said to be silent") func unreadableReplyIsNotSilence() throws {
        let room = try RoomFixture { _, channel, _ in try channel.send(header: [0x30, 0x00]) }
        #expect(try room.caller().ask(.lock) == .refused(Refusal(.unavailable)))
    }

    @Test("If the reopened connection to the enclave breaks too, the enclave is unavailable")
    func secondBrokenConnectionIsUnavailable() throws {
        let breaks = Countdown(2)
        let room = try RoomFixture { _, channel, _ in
            if breaks.next() { return channel.shutDown() }
            try channel.send(header: EnclaveReply.user(.done).encoded())
        }
        let caller = try room.caller()
        #expect(try caller.ask(.lock) == .refused(Refusal(.unavailable, "The enclave does not answer")))
        // The caller's connection remains usable.
        #expect(try caller.ask(.lock) == .answered(.done, promptPlaces: []))
    }
}
