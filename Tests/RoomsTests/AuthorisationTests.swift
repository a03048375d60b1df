import Foundation
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost

/// What time and the reader do to an authorisation, with clocks and rooms of the test's own.
@Suite("Authorisations")
struct AuthorisationTests {
    /// After a finger at the device, a program that asks at its start need not ask again, for as long as it says.
    @Test(.proves("C-112", "C-126"))
    func aFingerThatUnlockedIsNotAskedForAgain() throws {
        let known = try RoomsWithFinger(unlocks: true, hasClock: true)
        let (rooms, reader) = (known.rooms, known.reader)
        let clock = try EnclaveClockFile(of: rooms)
        let person = try rooms.person([.silence, .cancel, .cancel, .cancel])
        defer { person.leave() }
        func evaluate(reusing seconds: Int64) -> Refusal.Reason? {
            refusal { try rooms.authentication.evaluate(Evaluation(.policy(.biometry), reason: "start", reuseSeconds: seconds)).end() }
        }
        // A match for a program's question is none that counts here.
        reader.expect(.match)
        #expect(evaluate(reusing: 0) == nil && person.questions.count == 1)
        #expect(evaluate(reusing: 30) == .cancelled && person.questions.count == 2)
        try rooms.authentication.lock()
        try awaitTrue("the reader holding") { reader.held[geteuid()]?.count == 32 }
        reader.expect(.match)
        try rooms.authentication.unlockByFinger()
        #expect(evaluate(reusing: 30) == nil)
        try clock.advance(seconds: 29)
        #expect(evaluate(reusing: 30) == nil && person.questions.count == 2)
        try clock.advance(seconds: 2)
        #expect(evaluate(reusing: 30) == .cancelled && person.questions.count == 3)
        // Five minutes are the most, whatever a program says.
        try clock.advance(seconds: 280)
        #expect(evaluate(reusing: 1_000_000) == .cancelled && person.questions.count == 4)
    }

    @Test func anAuthorisationEndsWithItsConnectionAndWithThePasscode() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.addGuarded("p", .userPresence)
        let person = try rooms.person([.passcode(Rooms.passcode), .cancel, .passcode(Rooms.passcode), .cancel, .passcode("another one")])
        defer { person.leave() }
        func read(_ authorisation: Authorisation) -> Refusal.Reason? {
            var query = Rooms.query("s", "p")
            query.returnsData = true
            query.authorisation = authorisation.ownHandle
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
        // The prompt service ends, and with it what came over it.
        let third = try rooms.authentication.evaluate(evaluation)
        #expect(read(third) == nil)
        try rooms.killAndAwait("authd")
        try awaitTrue("nothing left of it") { read(third) == .nobodyToAsk }
    }

    enum Killed: String, CaseIterable { case agent, authd, enclave = "enclaved-testing" }

    /// Whoever ends on the way of an open question, its caller hears of it at once.
    @Test(arguments: Killed.allCases)
    func aCallEndsWithWhateverEndsOnItsWay(_ killed: Killed) throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let person = try rooms.person([.silence])
        let call = Running { refusal { try rooms.authentication.evaluate(.biometryOrPasscode, reason: "wait") } }
        #expect(person.awaitQuestion())
        switch killed {
        case .agent: person.leave()
        case .authd, .enclave: try rooms.killAndAwait(killed.rawValue)
        }
        let end = try call.value()
        #expect(end == .nobodyToAsk || end == .unavailable)
        person.leave()
    }
}
