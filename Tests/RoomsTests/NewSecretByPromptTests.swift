// A new passcode and a new recovery key by a prompt: typed and shown at the user's agent, sealed to the enclave, and never visible to the
// program that sent the request.

import Dispatch
import Enclave
import EnclaveWire
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel
import VaubanUserWire

@Suite("New secrets by a prompt")
struct NewSecretByPromptTests {
    private static let next = "another correct horse"
    private static let right = ScriptedUser.Answer.passcode(Rooms.passcode)
    private static let renewing = ScriptedUser.Answer.newPasscode(Rooms.passcode, next)

    private static func rooms() throws -> Rooms {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.add("s", "a", "kept")
        return rooms
    }

    private static func key(_ digits: [UInt8]) throws -> RecoveryKey {
        let typed = SecretBytes(copying: digits)
        return try RecoveryKey(typed: typed)
    }

    private static func expectUnchanged(_ rooms: Rooms, since before: Keybag, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try rooms.keybag() == before, sourceLocation: sourceLocation)
        try rooms.unlock()
        #expect(try rooms.read("s", "a") == "kept", sourceLocation: sourceLocation)
    }

    // MARK: The passcode

    @Test("The user sets a new passcode at the prompt, after a wrong current one") func newPasscodeIsTypedAtThePrompt() throws {
        let rooms = try Self.rooms()
        let recovery: RecoveryKey? = RecoveryKey(random: SecretBytes(copying: [UInt8](repeating: 1, count: RecoveryKey.keyBytes)))
        try rooms.authentication.setRecoveryKey(recovery, passcode: secret(Rooms.passcode))
        let user = try rooms.user([.newPasscode("a wrong passcode", Self.next), Self.renewing])
        defer { user.leave() }
        try rooms.authentication.changeByPrompt(.changePasscode)
        #expect(user.requests.map(\.change) == [.changePasscode, .changePasscode])
        #expect(user.requests.map(\.attemptsLeft) == [5, 4] && user.requests.allSatisfy { $0.reason == nil && !$0.isMade })
        try awaitTrue("the end of the prompt") { user.outcomes == [.accepted] }
        // The lock state is as before.
        #expect(try rooms.read("s", "a") == "kept")
        try rooms.authentication.lock()
        #expect(refusal { try rooms.unlock() } == .authenticationFailed)
        try rooms.unlock(Self.next)
        #expect(try rooms.read("s", "a") == "kept")
        // The recovery key outlives a change of the passcode.
        let typed = RecoveryKey(random: SecretBytes(copying: [UInt8](repeating: 1, count: RecoveryKey.keyBytes)))
        let none: RecoveryKey? = nil
        try rooms.authentication.recover(with: typed, to: secret("a third passcode"), newRecoveryKey: none)
    }

    @Test("Without the current passcode none is set") func withoutTheCurrentPasscodeNoneIsSet() throws {
        let rooms = try Self.rooms()
        let before = try rooms.keybag()
        #expect(refusal { try rooms.authentication.changeByPrompt(.changePasscode) } == .noPromptAgent)
        let guess = ScriptedUser.Answer.newPasscode("a guess", Self.next)
        // An answer with only the right passcode contains no new one.
        let user = try rooms.user([.cancel, Self.right, guess, guess, guess])
        defer { user.leave() }
        #expect(refusal { try rooms.authentication.changeByPrompt(.changePasscode) } == .cancelled)
        #expect(refusal { try rooms.authentication.changeByPrompt(.changePasscode) } == .authenticationFailed)
        #expect(refusal { try rooms.authentication.changeByPrompt(.changePasscode) } == .authenticationFailed)
        let device = try rooms.authentication.status().device
        #expect(device.attemptsLeft == 2 && device.failedAttempts.count == 3)
        try Self.expectUnchanged(rooms, since: before)
    }

    @Test("A new passcode that is too weak costs no attempt") func weakPasscodeCostsNoAttempt() throws {
        let rooms = try Self.rooms()
        let before = try rooms.keybag()
        let user = try rooms.user([.newPasscode("a wrong passcode", "12345"), .newPasscode(Rooms.passcode, "aaaaaaaa")])
        defer { user.leave() }
        for _ in 1...2 { #expect(refusal { try rooms.authentication.changeByPrompt(.changePasscode) } == .passcodeTooWeak) }
        #expect(try rooms.authentication.status().device.attemptsLeft == 5)
        try Self.expectUnchanged(rooms, since: before)
    }

    @Test(
        "A lock while the prompt is shown ends it, and nothing is changed", arguments: [CredentialChange.changePasscode, .makeRecoveryKey])
    func lockEndsThePrompt(_ change: CredentialChange) throws {
        let rooms = try Self.rooms()
        let before = try rooms.keybag()
        let user = try rooms.user([.afterwards({ try? rooms.authentication.lock() }, Rooms.passcode)])
        defer { user.leave() }
        #expect(refusal { try rooms.authentication.changeByPrompt(change) } == .locked)
        #expect(user.recoveryKeys.isEmpty)
        try Self.expectUnchanged(rooms, since: before)
    }

    // MARK: The recovery key

    @Test("A new recovery key is shown once it works, and the earlier one ends when the user has it")
    func newRecoveryKeyIsShownOnceItWorks() throws {
        let rooms = try Self.rooms()
        // Whether an earlier one works while one is shown.
        let works = Mutex<[Bool?]>([])
        let user = try ScriptedUser(service: rooms.service, answers: [.passcode("a wrong passcode"), Self.right, Self.right]) {
            let device = try? rooms.authentication.status().device
            works.withLock { $0.append(device?.recoveryKeyIsSet == true ? device?.earlierRecoveryKeyWorks : nil) }
            return true
        }
        defer { user.leave() }
        try rooms.authentication.changeByPrompt(.makeRecoveryKey)
        #expect(user.requests.map(\.change) == [.makeRecoveryKey, .makeRecoveryKey])
        try rooms.authentication.changeByPrompt(.makeRecoveryKey)
        #expect(works.withLock { $0 } == [false, true])
        #expect(try !rooms.authentication.status().device.earlierRecoveryKeyWorks)
        #expect(user.recoveryKeys.count == 2 && user.recoveryKeys[0] != user.recoveryKeys[1] && user.recoveryKeys[0].count == 48)
        try awaitTrue("the ends of the prompts") { user.outcomes == [.accepted, .accepted] }
        let none: RecoveryKey? = nil
        let first = try Self.key(user.recoveryKeys[0])
        let second = try Self.key(user.recoveryKeys[1])
        #expect(
            refusal { try rooms.authentication.recover(with: first, to: secret(Self.next), newRecoveryKey: none) } == .authenticationFailed)
        try rooms.authentication.recover(with: second, to: secret(Self.next), newRecoveryKey: none)
        #expect(try rooms.read("s", "a") == "kept")
    }

    @Test("No recovery key is made or shown without the passcode") func noRecoveryKeyWithoutThePasscode() throws {
        let rooms = try Self.rooms()
        let before = try rooms.keybag()
        let wrong = ScriptedUser.Answer.passcode("a wrong passcode")
        let user = try rooms.user([.cancel, wrong, wrong, wrong, .newPasscode(Rooms.passcode, Self.next)])
        defer { user.leave() }
        #expect(refusal { try rooms.authentication.changeByPrompt(.makeRecoveryKey) } == .cancelled)
        #expect(refusal { try rooms.authentication.changeByPrompt(.makeRecoveryKey) } == .authenticationFailed)
        // A passcode is not a recovery key, and costs no attempt there.
        #expect(refusal { try rooms.authentication.changeByPrompt(.makeRecoveryKey) } == .badParameter)
        #expect(user.recoveryKeys.isEmpty)
        #expect(try rooms.authentication.status().device.attemptsLeft == 2)
        try Self.expectUnchanged(rooms, since: before)
    }

    @Test("A recovery key is reported as made even if the user did not confirm to have read it")
    func unconfirmedRecoveryKeyIsReported() throws {
        let rooms = try Self.rooms()
        // The agent ends while it shows the key: it is killed, or the power fails.
        let gone = Mutex<(@Sendable () -> Void)?>(nil)
        let user = try ScriptedUser(service: rooms.service, answers: [Self.right, Self.right]) {
            gone.withLock { $0 }?()
            return false
        }
        #expect(refusal { try rooms.authentication.changeByPrompt(.makeRecoveryKey) } == .keysChanged)
        #expect(try rooms.authentication.status().device.recoveryKeyIsSet)
        gone.withLock { $0 = { user.leave() } }
        #expect(refusal { try rooms.authentication.changeByPrompt(.makeRecoveryKey) } == .keysChanged)
        #expect(try rooms.authentication.status().device.earlierRecoveryKeyWorks)
        // Another agent did not make it and cannot show it; the key that was shown still works, as the earlier one does.
        let shown = try Self.key(try #require(user.recoveryKeys.last))
        let none: RecoveryKey? = nil
        try rooms.authentication.recover(with: shown, to: secret(Self.next), newRecoveryKey: none)
    }

    @Test("Neither the caller's end nor a lock takes a recovery key off the screen") func recoveryKeyStaysOnTheScreen() throws {
        let rooms = try Self.rooms()
        let cancellation = CallCancellation()
        let isShown = DispatchSemaphore(value: 0)
        let mayGo = DispatchSemaphore(value: 0)
        let user = try ScriptedUser(service: rooms.service, answers: [Self.right, .silence]) {
            isShown.signal()
            mayGo.wait()
            return true
        }
        defer { user.leave() }
        let call = Running { refusal { try rooms.authentication.changeByPrompt(.makeRecoveryKey, cancellation: cancellation) } }
        #expect(isShown.wait(timeout: .now() + HangLimit.seconds) == .success)
        cancellation.cancel()
        try rooms.authentication.lock()
        #expect(try call.value() != nil)
        // The next prompt comes when the user has the key.
        let ending = CallCancellation()
        let isQueued = DispatchSemaphore(value: 0)
        let next = Running {
            refusal { try rooms.authentication.unlockByPrompt(reason: "next", waiting: { _ in isQueued.signal() }, cancellation: ending) }
        }
        #expect(isQueued.wait(timeout: .now() + HangLimit.seconds) == .success)
        #expect(user.requests.count == 1 && user.outcomes.isEmpty)
        mayGo.signal()
        #expect(user.awaitPrompt() && user.awaitPrompt())
        #expect(user.requests.map(\.operation) == [.changeCredential, .unlock] && user.outcomes.first == .accepted)
        ending.cancel()
        #expect(try next.value() != nil)
        let none: RecoveryKey? = nil
        let shown = try Self.key(try #require(user.recoveryKeys.first))
        try rooms.authentication.recover(with: shown, to: secret(Self.next), newRecoveryKey: none)
    }

    // MARK: On the way

    private static func sealed(_ answer: PromptAnswer) throws -> SealedPasscode {
        guard case .passcode(let sealed) = answer else { throw Refusal(.internalError) }
        return sealed
    }

    /// What an authd could make of the user's answer, without the passcode.
    @Test("A new secret that authd exchanged is refused and not counted", arguments: [CredentialChange.changePasscode, .makeRecoveryKey])
    func exchangedSecretIsRefused(_ change: CredentialChange) throws {
        let rooms = try Self.rooms()
        let between = try FalseAuthentication(before: rooms)
        let before = try (bag: rooms.keybag(), device: rooms.authentication.status().device)
        let authd = try PlayedAuthd(rooms)
        defer { authd.resume() }
        let theirs = change == .changePasscode ? "the attacker's own" : String(repeating: "000000", count: RecoveryKey.groups)
        let users = change == .changePasscode ? Self.next : String(repeating: "000011", count: RecoveryKey.groups)
        /// Has the prompt answered; `answer` gets what the user's agent sealed, and how to seal for the same challenge.
        func answering(
            _ answer: (_ passcode: SealedPasscode, _ new: SealedPasscode, _ seal: (String) throws -> SealedPasscode) throws -> PromptAnswer
        ) throws -> Refusal.Reason? {
            let call = Running { refusal { try between.client.changeByPrompt(change) } }
            let (request, card) = try authd.nextRequest()
            try authd.report(.shown(prompt: request.prompt, place: "on the screen"))
            func seal(_ text: String, _ binding: SealBinding? = nil) throws -> SealedPasscode {
                try Self.sealed(try PlayedAuthd.seal(text, to: card, for: request.challenge, authorizing: binding))
            }
            let new = try seal(users, .change(change))
            let passcode = try seal(Rooms.passcode, .change(change, new: new))
            let told = try answer(passcode, new) { try seal($0, .change(change)) }
            try authd.report(.answered(prompt: request.prompt, challenge: request.challenge.nonce, told))
            let end = try call.value()
            // The same answer a second time finds no prompt.
            try authd.report(.answered(prompt: request.prompt, challenge: request.challenge.nonce, .credential(passcode, new: new)))
            return end
        }
        let forged = try answering { passcode, _, seal in .credential(passcode, new: try seal(theirs)) }
        let swapped = try answering { passcode, new, _ in .credential(new, new: passcode) }
        let doubled = try answering { passcode, _, _ in .credential(passcode, new: passcode) }
        // Nor does the new secret alone answer any prompt, even once it is the passcode.
        let single = try answering { _, new, _ in .passcode(new) }
        #expect([forged, swapped, doubled] == [.badParameter, .badParameter, .badParameter])
        #expect(single == .authenticationFailed)
        let alone = try answering { passcode, _, _ in .passcode(passcode) }
        let consented = try answering { passcode, _, _ in .consent(passcode, .once) }
        let seen = try answering { _, _, _ in .seen }
        #expect([alone, consented, seen] == [.authenticationFailed, .authenticationFailed, .authenticationFailed])
        #expect(try rooms.keybag() == before.bag)
        #expect(try between.client.status().device == before.device)
    }

    @Test("An answer from an earlier prompt is refused") func answerFromAnEarlierPromptIsRefused() throws {
        let rooms = try Self.rooms()
        let between = try FalseAuthentication(before: rooms)
        let before = try rooms.keybag()
        let authd = try PlayedAuthd(rooms)
        defer { authd.resume() }
        func begin() throws -> (Running<Refusal.Reason?>, PromptRequest, EnclaveKeyCard) {
            let call = Running { refusal { try between.client.changeByPrompt(.changePasscode) } }
            let (request, card) = try authd.nextRequest()
            try authd.report(.shown(prompt: request.prompt, place: "on the screen"))
            return (call, request, card)
        }
        let (first, request, card) = try begin()
        let change = SealBinding.change(.changePasscode)
        let new = try Self.sealed(try PlayedAuthd.seal(Self.next, to: card, for: request.challenge, authorizing: change))
        let binding = SealBinding.change(.changePasscode, new: new)
        let passcode = try Self.sealed(try PlayedAuthd.seal(Rooms.passcode, to: card, for: request.challenge, authorizing: binding))
        try authd.report(.answered(prompt: request.prompt, challenge: request.challenge.nonce, .cancelled))
        #expect(try first.value() == .cancelled)
        let (second, later, _) = try begin()
        try authd.report(.answered(prompt: later.prompt, challenge: later.challenge.nonce, .credential(passcode, new: new)))
        #expect(try second.value() == .badParameter)
        #expect(try rooms.keybag() == before)
        #expect(try between.client.status().device.attemptsLeft == 5)
    }

    @Test("The seal of a new passcode answers no other prompt, even once it is the passcode") func newSecretAnswersNoOtherPrompt() throws {
        let rooms = try Self.rooms()
        try rooms.authentication.lock()
        let between = try FalseAuthentication(before: rooms)
        let authd = try PlayedAuthd(rooms)
        defer { authd.resume() }
        let call = Running { refusal { try between.client.unlockByPrompt(reason: "other") } }
        let (request, card) = try authd.nextRequest()
        try authd.report(.shown(prompt: request.prompt, place: "on the screen"))
        let change = SealBinding.change(.changePasscode)
        let new = try PlayedAuthd.seal(Rooms.passcode, to: card, for: request.challenge, authorizing: change)
        try authd.report(.answered(prompt: request.prompt, challenge: request.challenge.nonce, new))
        #expect(try call.value() == .badParameter)
        #expect(try between.client.status().device.attemptsLeft == 5)
    }

    @Test("Prompts for other operations refuse a new secret") func otherPromptsRefuseANewSecret() throws {
        let rooms = try Self.rooms()
        let user = try rooms.user([Self.renewing, Self.renewing])
        defer { user.leave() }
        #expect(refusal { try rooms.authentication.evaluate(.biometryOrPasscode, reason: "open") } == .authenticationFailed)
        try rooms.authentication.lock()
        #expect(refusal { try rooms.authentication.unlockByPrompt(reason: "unlock") } == .authenticationFailed)
        #expect(try rooms.authentication.status().device.attemptsLeft == 5)
    }
}
