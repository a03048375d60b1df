import Foundation
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// How time and the reader affect an authorization, with the test's own clocks and rooms.
@Suite("Authorizations")
struct AuthorizationTests {
    /// After an unlock by fingerprint, a program that authenticates at its start need not prompt for as long as it allows.
    @Test("A fingerprint that unlocked is not requested again within the allowed time", .proves("C-112", "C-126"))
    func unlockingFingerIsNotRequestedAgain() throws {
        let known = try RoomsWithFinger(unlocks: true, hasClock: true)
        let (rooms, reader) = (known.rooms, known.reader)
        let clock = try EnclaveClockFile(of: rooms)
        let user = try rooms.user([.silence, .cancel, .cancel, .cancel])
        defer { user.leave() }
        func evaluate(reusing seconds: Int64) -> Refusal.Reason? {
            refusal { try rooms.authentication.evaluate(Evaluation(.policy(.biometry), reason: "start", reuseSeconds: seconds)).end() }
        }
        // A match for a program's prompt does not count here.
        reader.expect(.match)
        #expect(evaluate(reusing: 0) == nil)
        // The fingerprint may be faster than the agent.
        try awaitTrue("the prompt") { user.requests.count == 1 }
        #expect(evaluate(reusing: 250) == .cancelled && user.requests.count == 2)
        try rooms.authentication.lock()
        try awaitTrue("the reader holding") { reader.held[geteuid()]?.count == 32 }
        reader.expect(.match)
        try rooms.authentication.unlockByFinger()
        #expect(evaluate(reusing: 250) == nil)
        try clock.advance(seconds: 100)
        #expect(evaluate(reusing: 250) == nil && user.requests.count == 2)
        try clock.advance(seconds: 151)
        #expect(evaluate(reusing: 250) == .cancelled && user.requests.count == 3)
        // At most five minutes, regardless of what a program requests.
        try clock.advance(seconds: 60)
        #expect(evaluate(reusing: 1_000_000) == .cancelled && user.requests.count == 4)
    }

    @Test("An authorization ends with its connection and with a change of the passcode")
    func anAuthorizationEndsWithItsConnectionAndWithThePasscode() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.addGuarded("p", .userPresence)
        let user = try rooms.user([.passcode(Rooms.passcode), .cancel, .passcode(Rooms.passcode), .cancel, .passcode("another one")])
        defer { user.leave() }
        func read(_ authorization: Authorization) -> Refusal.Reason? {
            var query = Rooms.query("s", "p")
            query.returns.insert(.data)
            query.authorization = authorization.ownHandle
            return refusal { _ = try rooms.keychain.copyMatching(query) }
        }
        let evaluation = Evaluation(.policy(.biometryOrPasscode), reason: "open")
        let first = try rooms.authentication.evaluate(evaluation)
        #expect(read(first) == nil)
        first.end()
        try awaitTrue("its end") { read(first) == .cancelled }
        let second = try rooms.authentication.evaluate(evaluation)
        #expect(read(second) == nil)
        try rooms.authentication.changePasscode(from: secret(Rooms.passcode), to: secret("another one"))
        #expect(read(second) == .cancelled)
        // authd ends, and so do the authorizations over its connection.
        let third = try rooms.authentication.evaluate(evaluation)
        #expect(read(third) == nil)
        try rooms.killAndAwait("authd")
        try awaitTrue("nothing left of it") { read(third) == .noPromptAgent }
    }

    enum Killed: String, CaseIterable { case agent, authd, enclave = "enclaved" }

    /// If any process involved in a prompt ends, its caller is notified at once.
    @Test("A call that waits for the user ends when any room on its path ends", arguments: Killed.allCases)
    func callEndsWithAnyRoomOnItsPath(_ killed: Killed) throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let user = try rooms.user([.silence])
        let told = DispatchSemaphore(value: 0)
        let call = Running { refusal { try rooms.authentication.evaluate(.biometryOrPasscode, reason: "wait") { _ in told.signal() } } }
        #expect(user.awaitPrompt())
        // Before the user is prompted, a request is repeated at a restarted enclave.
        #expect(told.wait(timeout: .now() + HangLimit.seconds) == .success)
        switch killed {
        case .agent: user.leave()
        case .authd, .enclave: try rooms.killAndAwait(killed.rawValue)
        }
        let end = try call.value()
        #expect(end == .noPromptAgent || end == .unavailable)
        user.leave()
    }
}
