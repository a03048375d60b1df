// Unlocking by a prompt, and the notices of a lock and an unlock.

import Foundation
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

@Suite("Unlocking by a prompt")
struct UnlockPromptTests {
    private let rooms: Rooms

    init() throws {
        rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.authentication.lock()
    }

    private var lock: LockState { get throws { try rooms.authentication.status().device.lock } }

    @Test("The passcode at a prompt unlocks, after a wrong one") func passcodeAtPromptUnlocks() throws {
        let user = try rooms.user([.passcode("a wrong passcode"), .passcode(Rooms.passcode)])
        defer { user.leave() }
        try rooms.authentication.unlockByPrompt(reason: "a reason")
        #expect(try lock == .unlocked)
        #expect(user.requests.map(\.operation) == [.unlock, .unlock] && user.requests.first?.reason == "a reason")
        #expect(user.requests.first?.methods == .passcode)
        // No prompt appears while it is unlocked.
        try rooms.authentication.unlockByPrompt(reason: "a reason")
        #expect(user.requests.count == 2)
    }

    @Test("A cancelled prompt, and no prompt agent, leave the keychain locked") func cancelledPromptLeavesTheKeychainLocked() throws {
        #expect(refusal { try rooms.authentication.unlockByPrompt(reason: "a reason") } == .noPromptAgent)
        let user = try rooms.user([.cancel])
        defer { user.leave() }
        #expect(refusal { try rooms.authentication.unlockByPrompt(reason: "a reason") } == .cancelled)
        #expect(refusal { try rooms.authentication.unlockByPrompt(reason: "") } == .badParameter)
        #expect(try lock == .locked)
    }

    @Test("A lock before the passcode is entered does not refuse it") func lockBeforeThePasscodeDoesNotRefuseIt() throws {
        let rooms = rooms
        let user = try rooms.user([.afterwards({ try? rooms.authentication.lock() }, Rooms.passcode)])
        defer { user.leave() }
        try rooms.authentication.unlockByPrompt(reason: "a reason")
        #expect(try lock == .unlocked && user.requests.count == 1)
    }

    @Test("A cancelled call withdraws its prompt") func cancelledCallWithdrawsItsPrompt() throws {
        let user = try rooms.user([.silence])
        defer { user.leave() }
        let cancellation = CallCancellation()
        let call = Running { refusal { try rooms.authentication.unlockByPrompt(reason: "a reason", cancellation: cancellation) } }
        #expect(user.awaitPrompt())
        cancellation.cancel()
        #expect(try call.value() != nil)
        try awaitTrue("the prompt withdrawn") { !user.outcomes.isEmpty }
        #expect(user.outcomes == [.callerGone])
    }

    @Test("Watchers are notified of a lock and of an unlock") func watchersAreNotifiedOfLocks() throws {
        let rooms = rooms
        let changes = DispatchSemaphore(value: 0)
        let listener = try EnvironmentListener(
            service: { rooms.service },
            onChange: {
                if $0 { changes.signal() }
                return true
            })
        try listener.start()
        defer { listener.end() }
        #expect(changes.wait(timeout: .now() + HangLimit.seconds) == .success)
        try rooms.unlock()
        #expect(changes.wait(timeout: .now() + HangLimit.seconds) == .success)
        try rooms.authentication.lock()
        #expect(changes.wait(timeout: .now() + HangLimit.seconds) == .success)
    }
}
