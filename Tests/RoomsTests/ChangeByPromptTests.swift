// Changes of credentials for which the service prompts: the passcode at the prompt makes exactly the change that the prompt shows.

import EnclaveWire
import Glibc
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

@Suite("Changes by a prompt")
struct ChangeByPromptTests {
    private static let strict = LockSettings(graceSeconds: 30, idleSeconds: 900, locksWithScreen: true)
    private static let change = CredentialChange.configure(before: .standard, after: strict)
    private static let right = ScriptedUser.Answer.passcode(Rooms.passcode)
    private static func recoveryKey(_ byte: UInt8) -> RecoveryKey? {
        RecoveryKey(random: SecretBytes(copying: [UInt8](repeating: byte, count: 16)))
    }

    /// Rooms with a passcode, a recovery key and a finger, so that every change is possible.
    private static func complete() throws -> (rooms: Rooms, reader: VirtualReader) {
        let known = try RoomsWithFinger(unlocks: true)
        let key = recoveryKey(1)
        try known.rooms.authentication.setRecoveryKey(key, passcode: secret(Rooms.passcode))
        return (known.rooms, known.reader)
    }

    private static let all: [CredentialChange] = [change, .enroll(unlocks: false), .forgetFingers, .endRecoveryKey]

    @Test("The passcode at the prompt changes the settings, after a wrong one") func passcodeAtPromptChangesTheSettings() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let user = try rooms.user([.passcode("a wrong passcode"), Self.right])
        defer { user.leave() }
        try rooms.authentication.changeByPrompt(Self.change)
        let device = try rooms.authentication.status().device
        #expect(device.settings == Self.strict && device.lock == .unlocked)
        #expect(user.requests.map(\.operation) == [.changeCredential, .changeCredential])
        let asked = try #require(user.requests.last)
        #expect(asked.change == Self.change && asked.reason == nil && asked.methods == .passcode && asked.attemptsLeft == 4)
        #expect(asked.caller.pid == Int64(getpid()))
        try awaitTrue("the end of the prompt") { user.outcomes == [.accepted] }
    }

    @Test("A declined prompt changes nothing, and neither does a missing prompt agent", arguments: all) func declinedPromptChangesNothing(
        _ change: CredentialChange
    ) throws {
        let (rooms, reader) = try Self.complete()
        let before = try (bag: rooms.keybag(), device: rooms.authentication.status().device)
        #expect(refusal { try rooms.authentication.changeByPrompt(change) } == .noPromptAgent)
        let wrong = ScriptedUser.Answer.passcode("a wrong passcode")
        let user = try rooms.user([.cancel, .fallback, wrong, wrong, wrong])
        defer { user.leave() }
        #expect(refusal { try rooms.authentication.changeByPrompt(change) } == .cancelled)
        #expect(refusal { try rooms.authentication.changeByPrompt(change) } != nil)
        #expect(refusal { try rooms.authentication.changeByPrompt(change) } == .authenticationFailed)
        #expect(user.requests.count == 5 && user.requests.allSatisfy { $0.change == change && $0.methods == .passcode })
        let after = try rooms.authentication.status().device
        #expect(try rooms.keybag() == before.bag)
        #expect(after.settings == before.device.settings && after.recoveryKeyIsSet && after.biometry.isEnrolled)
        // The wrong ones were counted, with the program that sent the request.
        #expect(after.attemptsLeft == before.device.attemptsLeft - 3 && after.failedAttempts.count == 3)
        #expect(reader.asks == 0)
    }

    @Test("A fingerprint does not approve a change") func fingerprintDoesNotApproveAChange() throws {
        let (rooms, reader) = try Self.complete()
        try rooms.addGuarded("p", .userPresence)
        let user = try rooms.user([.silence, .silence])
        defer { user.leave() }
        let cancellation = CallCancellation()
        let change = Running { refusal { try rooms.authentication.changeByPrompt(Self.change, cancellation: cancellation) } }
        #expect(user.awaitPrompt())
        #expect(user.requests.first?.methods == .passcode && user.requests.first?.state.finger == .notAsked)
        #expect(reader.asks == 0 && !change.isOver)
        cancellation.cancel()
        #expect(try change.value() != nil)
        try awaitTrue("the prompt withdrawn") { user.outcomes == [.callerGone] }
        #expect(try rooms.authentication.status().device.settings == .standard)
        // The same finger reads an item.
        reader.expect(.match)
        #expect(try rooms.read("s", "p") == "guarded")
    }

    @Test("A change is refused if its object was changed while the prompt was shown") func changedMeanwhile() throws {
        let (rooms, _) = try Self.complete()
        let later = LockSettings(graceSeconds: 0, idleSeconds: 60, locksWithScreen: false)
        let user = try rooms.user([
            .afterwards({ try? rooms.authentication.configure(later, passcode: secret(Rooms.passcode)) }, Rooms.passcode),
            .afterwards(
                {
                    let other = Self.recoveryKey(2)
                    try? rooms.authentication.setRecoveryKey(other, passcode: secret(Rooms.passcode))
                }, Rooms.passcode),
        ])
        defer { user.leave() }
        #expect(refusal { try rooms.authentication.changeByPrompt(Self.change) } == .keysChanged)
        #expect(try rooms.authentication.status().device.settings == later)
        #expect(refusal { try rooms.authentication.changeByPrompt(.endRecoveryKey) } == .keysChanged)
        #expect(try rooms.authentication.status().device.recoveryKeyIsSet)
        // The settings that the caller saw have changed: the user is not prompted.
        #expect(refusal { try rooms.authentication.changeByPrompt(Self.change) } == .keysChanged)
        #expect(user.requests.count == 2)
    }

    @Test("No prompt can allow programs to prompt on their own terminals") func terminalPromptsAreNotChanged() throws {
        let rooms = try Rooms()
        #expect(refusal { try rooms.authentication.changeByPrompt(Self.change) } == .passcodeNotSet)
        try rooms.setPasscode()
        let user = try rooms.user([Self.right])
        defer { user.leave() }
        var terminal = LockSettings.standard
        terminal.allowsTerminalPrompts = true
        let changes: [CredentialChange] = [
            .configure(before: .standard, after: terminal), .configure(before: terminal, after: terminal),
            .configure(before: .standard, after: .standard),
        ]
        #expect(
            changes.map { change in refusal { try rooms.authentication.changeByPrompt(change) } } == [
                .badParameter, .keysChanged, .badParameter,
            ])
        #expect(user.requests.isEmpty)
    }

    @Test("The passcode at the prompt enrolls, deletes fingers and ends the recovery key") func passcodeAtPromptMakesEachChange() throws {
        let (rooms, reader) = try Self.complete()
        let user = try rooms.user([Self.right, Self.right, Self.right])
        defer { user.leave() }
        reader.enrollNext(0xF2)
        try rooms.authentication.changeByPrompt(.enroll(unlocks: false))
        #expect(try rooms.biometry.isEnrolled && !rooms.biometry.unlocks)
        try rooms.authentication.changeByPrompt(.forgetFingers)
        #expect(try !rooms.biometry.isEnrolled)
        try rooms.authentication.changeByPrompt(.endRecoveryKey)
        #expect(try !rooms.authentication.status().device.recoveryKeyIsSet)
        #expect(user.requests.map(\.change) == [.enroll(unlocks: false), .forgetFingers, .endRecoveryKey])
        // There is no recovery key any more: the user is not prompted.
        #expect(refusal { try rooms.authentication.changeByPrompt(.endRecoveryKey) } == .recoveryKeyNotSet)
        #expect(refusal { try rooms.authentication.changeByPrompt(.forgetFingers) } == .biometryNotEnrolled)
        #expect(user.requests.count == 3)
    }

    @Test("Fingers that the reader keeps are not reported as deleted") func fingersThatTheReaderKeeps() throws {
        let (rooms, reader) = try Self.complete()
        let user = try rooms.user([Self.right])
        defer { user.leave() }
        reader.keepFingers()
        #expect(refusal { try rooms.authentication.changeByPrompt(.forgetFingers) } == .biometryNotAvailable)
        // They no longer approve anything.
        #expect(try !rooms.biometry.isEnrolled)
        #expect(refusal { try rooms.authentication.forgetFingers(secret(Rooms.passcode)) } == .biometryNotAvailable)
        #expect(user.requests.count == 1)
    }

    /// What an agent was shown instead, for each change that the enclave prompts for.
    private static let exchanges: [(made: CredentialChange, shown: SealBinding?)] = [
        (change, .change(.configure(before: .standard, after: LockSettings(graceSeconds: 0, idleSeconds: 60, locksWithScreen: true)))),
        (change, .change(.configure(before: strict, after: strict))), (change, .change(.forgetFingers)),
        (change, .credential(.configure(strict))), (change, nil),
        (.enroll(unlocks: true), .change(.enroll(unlocks: false))), (.enroll(unlocks: true), .change(change)),
        (.enroll(unlocks: true), nil),
        (.endRecoveryKey, .change(.forgetFingers)), (.endRecoveryKey, .change(change)), (.endRecoveryKey, nil),
        (.forgetFingers, .change(.endRecoveryKey)), (.forgetFingers, .credential(.forgetFingers)), (.forgetFingers, nil),
    ]

    @Test("A passcode for another change than that of the prompt is refused and not counted")
    func passcodeForAnotherChangeIsRefused() throws {
        let (rooms, reader) = try Self.complete()
        // Without the reader the user is not prompted to enroll.
        defer { withExtendedLifetime(reader) {} }
        let between = try FalseAuthentication(before: rooms)
        let before = try (bag: rooms.keybag(), device: rooms.authentication.status().device)
        let authd = try PlayedAuthd(rooms)
        defer { authd.resume() }
        func answer(_ change: CredentialChange, sealedFor binding: SealBinding?) throws -> Refusal.Reason? {
            let call = Running { refusal { try between.client.changeByPrompt(change) } }
            let (request, card) = try authd.nextRequest()
            #expect(request.change == change && request.operation == .changeCredential)
            try authd.report(.shown(prompt: request.prompt, place: "on the screen"))
            let sealed = try PlayedAuthd.seal(Rooms.passcode, to: card, for: request.challenge, authorizing: binding)
            try authd.report(.answered(prompt: request.prompt, challenge: request.challenge.nonce, sealed))
            return try call.value()
        }
        for exchange in Self.exchanges {
            #expect(try answer(exchange.made, sealedFor: exchange.shown) == .badParameter, "\(exchange)")
        }
        #expect(try rooms.keybag() == before.bag)
        #expect(try between.client.status().device == before.device)
        // The same passcode for what is shown.
        #expect(try answer(Self.change, sealedFor: .change(Self.change)) == nil)
        #expect(try between.client.status().device.settings == Self.strict)
    }

    /// If authd exchanges the request, the user is prompted for the exchanged one.
    @Test("If authd exchanges a request, the prompt shows the exchanged one") func exchangedRequestIsShown() throws {
        let (rooms, _) = try Self.complete()
        let between = try FalseAuthentication(before: rooms)
        let user = try rooms.user([.cancel])
        defer { user.leave() }
        // The compromised authd has seen the key card.
        _ = try between.client.challenge(.unlock)
        let alteredRequests = between.alteredRequests
        let end = refusal {
            try between.altering({ request, _ in request == .changeByPrompt(Self.change) ? .changeByPrompt(.endRecoveryKey) : request }) {
                try $0.changeByPrompt(Self.change)
            }
        }
        #expect(end == .cancelled && between.alteredRequests == alteredRequests + 1)
        #expect(user.requests.map(\.change) == [.endRecoveryKey])
        #expect(try rooms.authentication.status().device.recoveryKeyIsSet)
    }
}
