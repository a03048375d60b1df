// The key that the reader holds for unlocking: returned, dropped, and never confused with a prompt.

import EnclaveWire
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

@Suite("Unlocking by a finger")
struct FingerUnlockingTests {
    private func lockAndAwaitHolding(_ known: RoomsWithFinger) throws {
        try known.rooms.authentication.lock()
        try awaitTrue("the reader holding") { known.reader.held[geteuid()]?.count == 32 }
    }

    /// A fingerprint for a prompt while the keychain is locked does not affect the fingerprint that unlocks.
    @Test("A match for a prompt does not unlock") func aMatchForAPromptDoesNotUnlock() throws {
        let known = try RoomsWithFinger(unlocks: true)
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .userPresence, protection: .always)
        let user = try rooms.user([.silence])
        defer { user.leave() }
        try lockAndAwaitHolding(known)
        reader.expect(.match, .match)
        #expect(try rooms.read("s", "p") == "guarded")
        try awaitTrue("the reader holding again") { reader.held[geteuid()]?.count == 32 }
        try rooms.authentication.unlockByFinger()
        #expect(try rooms.authentication.status().device.cause == .fingerMatched)
    }

    @Test("After an unlock with the passcode the reader holds no key") func readerHoldsNoKeyAfterThePasscode() throws {
        let known = try RoomsWithFinger(unlocks: true)
        try lockAndAwaitHolding(known)
        try known.rooms.unlock()
        try awaitTrue("the reader having dropped it") { known.reader.held.isEmpty }
    }

    /// A touch has one meaning: a new prompt takes the reader from an unlock that waits.
    @Test("A prompt takes the reader from an unlock that waits") func promptPreemptsAnUnlock() throws {
        let known = try RoomsWithFinger(unlocks: true)
        let (rooms, reader) = (known.rooms, known.reader)
        let user = try rooms.user([.silence])
        defer { user.leave() }
        try lockAndAwaitHolding(known)
        let unlock = Running { refusal { try rooms.authentication.unlockByFinger() } }
        #expect(reader.awaitRequest())
        let request = Running { try rooms.authentication.evaluate(.biometryOrPasscode, reason: "on the screen") }
        #expect(try unlock.value() == .biometryNotAvailable)
        #expect(reader.awaitRequest())
        // And no unlock begins during the prompt.
        #expect(refusal { try rooms.authentication.unlockByFinger() } == .biometryNotAvailable)
        reader.touch()
        try request.value()
        #expect(try rooms.authentication.status().device.lock == .locked)
    }

    /// What a passcode yielded for a prompt that also waits for a fingerprint does not outlive a lock.
    @Test("A lock ends a prompt that already has the passcode's key") func aLockEndsAPromptThatHoldsThePasscodeKey() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("both", [.and, .biometryAny, .devicePasscode], protection: .always)
        reader.expect(.nothing, .nothing)
        let user = try rooms.user([.passcode(Rooms.passcode), .act { try? rooms.authentication.lock() }])
        defer { user.leave() }
        #expect(refusal { _ = try rooms.read("s", "both") } == .locked)
        try user.awaitPrompts(offering: [[.passcode, .finger], .finger])
    }
}
