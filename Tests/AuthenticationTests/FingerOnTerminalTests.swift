import EnclaveWire
import Foundation
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

/// What the command line shows if a fingerprint can answer: the real program on a terminal, the real room, and an enclave that sends the
/// test's replies.
@Suite struct FingerOnTerminalTests {
    private func request(_ number: UInt8, attempt: Int64 = 1, attemptsLeft: Int64 = 5, _ methods: AuthenticationMethods)
        -> PromptRequest
    {
        let sample = Sample.request(number, of: geteuid(), attempt: attempt)
        return PromptRequest(
            prompt: sample.prompt, user: sample.user, challenge: sample.challenge, caller: sample.caller, operation: .readItem,
            reason: "a reason", attempt: attempt, attemptsLeft: attemptsLeft, methods: methods)
    }

    private func ask(_ request: PromptRequest, over channel: Channel) throws {
        try channel.send(header: PromptNotice.ask(request).encoded(), descriptors: [try FakeEnclave.realKeyCard()])
    }

    private func resolve(_ request: PromptRequest, _ outcome: PromptOutcome, over channel: Channel) throws {
        try channel.send(header: PromptNotice.resolved(prompt: request.prompt, outcome).encoded())
    }

    /// Returns the next report that is an answer.
    private func answer(_ room: RoomFixture) throws -> PromptAnswer {
        while true {
            if case .answered(_, _, let answer) = try room.enclave.reports.take() { return answer }
        }
    }

    @Test("A prompt for a fingerprint alone does not ask for the passcode") func aPromptForAFingerAloneDoesNotAskForThePasscode() throws {
        let room = try RoomFixture()
        let channel = try room.enclave.promptConnections.take()
        let play = try PlayedTerminal(
            before: room.address, ["approve"],
            steps: """
                expect Prompts appear here
                run printf . >$BELL
                expect Vauban asks for your approval.
                expect Message:  “a reason”
                expect Touch the fingerprint reader to allow it.
                run printf . >$BELL
                expect Accepted
                run printf . >$BELL
                expect Touch the fingerprint reader
                send not a passcode
                key up
                key esc
                expect Cancelled
                run printf . >$BELL
                expect Touch the fingerprint reader
                run printf . >$BELL
                expect That finger was not recognized. Attempt 2 of 3.
                expect Touch the fingerprint reader
                key ctrl-c
                expect Cancelled
                absent Passcode
                absent attempts are left
                absent not a passcode
                key ctrl-c

                """)
        try play.awaitBell()
        try ask(request(1, .finger), over: channel)
        try play.awaitBell()
        try resolve(request(1, .finger), .accepted, over: channel)
        try play.awaitBell()
        try ask(request(2, .finger), over: channel)
        #expect(try answer(room) == .cancelled)
        try resolve(request(2, .finger), .cancelled, over: channel)
        // A second attempt of the same prompt.
        try play.awaitBell()
        try ask(request(3, .finger), over: channel)
        try play.awaitBell()
        try ask(request(3, attempt: 2, .finger), over: channel)
        #expect(try answer(room) == .cancelled)
        try resolve(request(3, attempt: 2, .finger), .cancelled, over: channel)
        let (status, shown) = try play.ended()
        #expect(status == 130, "\(shown)")
    }

    @Test("A match ends a prompt that accepts either method at once") func aMatchEndsAPromptThatEitherFactorSatisfies() throws {
        let room = try RoomFixture()
        let channel = try room.enclave.promptConnections.take()
        let either: AuthenticationMethods = [.finger, .passcode]
        let play = try PlayedTerminal(
            before: room.address, ["approve"],
            steps: """
                expect Prompts appear here
                run printf . >$BELL
                expect Vauban asks for your approval.
                expect Attempt 1 of 3. You have
                expect Touch the fingerprint reader, or type your Vauban passcode.
                run printf . >$BELL
                expect Accepted
                absent what you type is ignored
                run printf . >$BELL
                expect Touch the fingerprint reader, or type your Vauban passcode.
                secret correct horse
                expect That was not your passcode. 4 attempts are left before you have to wait. Attempt 2 of 3.
                key enter
                expect Cancelled
                key ctrl-c

                """)
        try play.awaitBell()
        try ask(request(1, either), over: channel)
        try play.awaitBell()
        try resolve(request(1, either), .accepted, over: channel)
        try play.awaitBell()
        try ask(request(2, either), over: channel)
        guard case .passcode = try answer(room) else { throw Unexpected(what: "no passcode was sent") }
        try ask(request(2, attempt: 2, attemptsLeft: 4, either), over: channel)
        #expect(try answer(room) == .cancelled)
        try resolve(request(2, either), .cancelled, over: channel)
        let (status, shown) = try play.ended()
        #expect(status == 130, "\(shown)")
        #expect(!shown.contains("correct horse"))
    }

    // MARK: Unlocking

    /// Creates a room with a locked device that fingerprints unlock. `reader` decides what happens to the finger.
    private func lockedRoom(unlocks: Bool = true, isReady: Bool = true, _ reader: @escaping @Sendable (Channel) throws -> EnclaveReply)
        throws -> RoomFixture
    {
        try RoomFixture { request, channel, _ in
            switch request {
            case .user(.status):
                var device = DeviceStatus(
                    lock: .locked, cause: .lockRequested, since: 0, passcodeIsSet: true, attemptsLeft: 5, secondsToWait: 0, warnings: [])
                device.biometry = DeviceStatus.Biometry(
                    readerIsPresent: true, isEnrolled: true, isReady: isReady, unlocks: unlocks, missesLeft: 5)
                try channel.send(header: EnclaveReply.user(.status(device)).encoded())
            case .user(.challenge(let purpose)):
                let challenge = PasscodeChallenge(nonce: Sample.nonce(1), purpose: purpose)
                try channel.send(header: EnclaveReply.user(.challenge(challenge)).encoded(), descriptors: [try FakeEnclave.realKeyCard()])
            case .user(.unlockByFinger):
                try channel.send(header: EnclaveReply.waitingForUser(place: "the reader").encoded())
                try channel.send(header: reader(channel).encoded())
            default: try channel.send(header: EnclaveReply.user(.done).encoded())
            }
        }
    }

    /// Returns the received requests, by their purpose.
    private func requests(_ room: RoomFixture, _ count: Int) throws -> [String] {
        try (0..<count).map { _ in
            guard case .user(let request) = try room.enclave.requests.take() else { throw Unexpected(what: "not a user's request") }
            return "\(request)".prefix { $0 != "(" }.description
        }
    }

    @Test("A fingerprint unlocks at a terminal") func aFingerUnlocks() throws {
        let touched = Mailbox<Void>()
        let room = try lockedRoom { _ in
            try touched.take(); return .user(.done)
        }
        let play = try PlayedTerminal(
            before: room.address, ["unlock"],
            steps: "expect Touch the fingerprint reader, or press Return\nrun printf . >$BELL\nexpect Unlocked.\nabsent Passcode\n")
        try play.awaitBell()
        touched.put(())
        let (status, shown) = try play.ended()
        #expect(status == 0, "\(shown)")
        #expect(try requests(room, 3) == ["status", "status", "unlockByFinger"])
    }

    /// Return ends the request at the reader, and the typed passcode goes to the enclave as usual.
    @Test("Return takes the passcode instead of a fingerprint") func returnTakesThePasscodeInstead() throws {
        let asked = Mailbox<Void>()
        let room = try lockedRoom { channel in
            asked.put(())
            _ = try channel.receive(.idle)
            return .user(.done)
        }
        let play = try PlayedTerminal(
            before: room.address, ["unlock"],
            steps:
                "expect Touch the fingerprint reader\nrun read line <$LEAVE\nkey enter\nexpect Passcode\n"
                + "secret correct horse\nexpect Unlocked.\n"
        )
        try asked.take()
        play.resume()
        let (status, shown) = try play.ended()
        #expect(status == 0, "\(shown)")
        #expect(try requests(room, 5) == ["status", "status", "unlockByFinger", "challenge", "unlock"])
        try room.enclave.ended.take()
    }

    @Test("If the fingerprint does not unlock, the passcode does") func aFingerThatDoesNotUnlockLeavesThePasscode() throws {
        let room = try lockedRoom { _ in .refused(Refusal(.biometryLockedOut)) }
        let play = try PlayedTerminal(
            before: room.address, ["unlock"],
            steps: "expect Fingerprints are not accepted\nexpect Passcode\nsecret correct horse\nexpect Unlocked.\n")
        let (status, shown) = try play.ended()
        #expect(status == 0, "\(shown)")
    }

    @Test("Ctrl-C cancels the wait for a fingerprint") func controlCCancels() throws {
        let room = try lockedRoom { channel in
            _ = try channel.receive(.idle); return .user(.done)
        }
        let play = try PlayedTerminal(
            before: room.address, ["unlock"], steps: "expect Touch the fingerprint reader\nkey ctrl-c\nexpect Cancelled\n")
        let (status, shown) = try play.ended()
        #expect(status == 128, "\(shown)")
        #expect(!shown.contains("Passcode"))
    }

    /// If fingerprints do not unlock, or not now, none is requested.
    @Test("If fingerprints do not unlock, only the passcode is requested", arguments: [(false, true), (true, false)])
    func passcodeIsUsedWithoutAFingerprint(_ unlocks: Bool, _ isReady: Bool) throws {
        let room = try lockedRoom(unlocks: unlocks, isReady: isReady) { _ in .done }
        let play = try PlayedTerminal(
            before: room.address, ["unlock"], steps: "expect Passcode\nabsent Touch\nsecret correct horse\nexpect Unlocked.\n")
        let (status, shown) = try play.ended()
        #expect(status == 0, "\(shown)")
    }
}
