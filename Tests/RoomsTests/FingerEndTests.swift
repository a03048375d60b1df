// What ends the validity of fingerprints: a restart, time, a sensor that disappears, an agent that is missing.

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

@Suite("Validity of fingerprints")
struct FingerEndTests {
    @Test("After a restart the passcode is required before a fingerprint counts")
    func restartRequiresThePasscodeBeforeAFingerprint() throws {
        let known = try RoomsWithFinger(unlocks: true)
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .userPresence, protection: .always)
        try rooms.addGuarded("any", .biometryAny, protection: .always)
        try rooms.killAndAwait("enclaved")
        try awaitTrue("the end of the connection") { reader.endedConnections == 1 }
        try reader.connect()
        try rooms.awaitReader(isThere: true)
        let status = try rooms.authentication.status().device
        #expect(status.biometry.isEnrolled && !status.biometry.isReady && status.biometry.missesLeft == 0)
        #expect(refusal { try rooms.authentication.unlockByFinger() } == .biometryLockedOut)
        #expect(refusal { _ = try rooms.read("s", "any") } == .biometryLockedOut)
        // The class is always open, so only the user is required: by passcode alone.
        let user = try rooms.user([.passcode(Rooms.passcode), .silence])
        defer { user.leave() }
        reader.expect(.match)
        #expect(try rooms.read("s", "p") == "guarded")
        try user.awaitPrompts(offering: [.passcode])
        #expect(reader.asks == 0)
        #expect(try rooms.read("s", "any") == "guarded")
    }

    @Test("Fingerprints expire 48 hours after the passcode") func fingerprintsExpire48HoursAfterThePasscode() throws {
        let known = try RoomsWithFinger(hasClock: true)
        let (rooms, reader) = (known.rooms, known.reader)
        let clock = try EnclaveClockFile(of: rooms)
        try rooms.addGuarded("any", .biometryAny)
        let user = try rooms.user([.silence, .silence, .silence])
        defer { user.leave() }
        reader.expect(.match, .match)
        try clock.advance(seconds: 48 * 3600 - 300)
        #expect(try rooms.read("s", "any") == "guarded")
        // A fingerprint does not restart the time.
        try clock.advance(seconds: 301)
        #expect(refusal { _ = try rooms.read("s", "any") } == .biometryLockedOut)
        #expect(try !rooms.biometry.isReady)
        try rooms.unlock()
        #expect(try rooms.read("s", "any") == "guarded")
    }

    @Test("A fingerprint unlocks after an immediate lock, so that a long passcode is rarely needed", .proves("C-069"))
    func fingerprintUnlocksAfterAnImmediateLock() throws {
        let rooms = try Rooms(hasClock: true)
        let long = "four random words and a number 8675309"
        try rooms.setPasscode(long)
        let reader = try rooms.reader()
        try rooms.enroll(reader, unlocks: true, long)
        try rooms.add("s", "a", "class A")
        // Locked without a grace period, any number of times: a touch unlocks.
        for round in 1...3 {
            try rooms.authentication.lock()
            #expect(refusal { _ = try rooms.read("s", "a") } == .locked)
            try awaitTrue("the reader holding") { reader.held[geteuid()]?.count == 32 }
            reader.expect(.miss, .match)
            try rooms.authentication.unlockByFinger()
            #expect(try rooms.authentication.status().device.cause == .fingerMatched)
            #expect(try rooms.read("s", "a") == "class A")
            #expect(reader.held[geteuid()] == nil)
            #expect(try rooms.biometry.missesLeft == Int64(5 - round))
        }
        // The reader disappears while it holds a key: that key is useless to any later reader.
        try rooms.authentication.lock()
        try awaitTrue("the reader holding") { reader.held[geteuid()] != nil }
        reader.leave()
        try rooms.awaitReader(isThere: false)
        try reader.connect()
        try rooms.awaitReader(isThere: true)
        reader.expect(.match)
        #expect(refusal { try rooms.authentication.unlockByFinger() } == .biometryLockedOut)
        try rooms.unlock(long)
        #expect(try rooms.read("s", "a") == "class A")
    }

    @Test("A fingerprint does not unlock unless the user enabled that") func fingerprintDoesNotUnlockUnlessEnabled() throws {
        let known = try RoomsWithFinger(unlocks: false)
        let (rooms, reader) = (known.rooms, known.reader)
        reader.expect(.match)
        try rooms.authentication.lock()
        #expect(refusal { try rooms.authentication.unlockByFinger() } == .biometryLockedOut)
        #expect(reader.held.isEmpty && reader.asks == 0)
    }

    @Test("If the sensor is removed, a prompt continues with the passcode or ends")
    func removedSensorLeavesThePasscodeOrEndsThePrompt() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .userPresence)
        try rooms.addGuarded("any", .biometryAny)
        let user = try rooms.user([
            .act { try? reader.sensor(isPresent: false) }, .passcode(Rooms.passcode), .act { try? reader.sensor(isPresent: false) },
        ])
        defer { user.leave() }
        #expect(try rooms.read("s", "p") == "guarded")
        try user.awaitPrompts(offering: [[.passcode, .finger], .passcode])
        try reader.sensor(isPresent: true)
        try rooms.awaitReader(isThere: true)
        #expect(refusal { _ = try rooms.read("s", "any") } == .biometryNotAvailable)
        // Missing beforehand: no prompt.
        try rooms.awaitReader(isThere: false)
        #expect(refusal { _ = try rooms.read("s", "any") } == .biometryNotAvailable)
        try awaitTrue("the prompts") { user.requests.count == 3 }
    }

    @Test("Without a prompt agent a protected item is refused at once, even with a reader")
    func missingPromptAgentRefusesEvenWithAReader() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .userPresence)
        try rooms.addGuarded("any", .biometryAny)
        reader.expect(.match, .match)
        let began = MachineClock.monotonic
        #expect(refusal { _ = try rooms.read("s", "p") } == .noPromptAgent)
        #expect(refusal { _ = try rooms.read("s", "any") } == .noPromptAgent)
        // At once: not after the user's timeout.
        #expect(MachineClock.monotonic - began < ConnectionLimits.userTimeout)
        #expect(reader.asks == 0)
    }

    @Test("An item that needs a fingerprint can be added only if one is enrolled")
    func itemsThatNeedAFingerprintRequireAnEnrolledOne() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        #expect(refusal { try rooms.addGuarded("set", .biometryCurrentSet) } == .biometryNotEnrolled)
        #expect(refusal { try rooms.authentication.enroll(secret(Rooms.passcode), unlocks: true) } == .biometryNotAvailable)
        let reader = try rooms.reader()
        // A wrong passcode begins no enrollment, and an enrollment without a finger changes nothing.
        #expect(refusal { try rooms.authentication.enroll(secret("not this one"), unlocks: true) } == .authenticationFailed)
        reader.enrollNext(nil)
        #expect(refusal { try rooms.authentication.enroll(secret(Rooms.passcode), unlocks: true) } == .cancelled)
        #expect(try !rooms.biometry.isEnrolled)
        try rooms.enroll(reader)
        try rooms.addGuarded("set", .biometryCurrentSet)
        try rooms.authentication.forgetFingers(secret(Rooms.passcode))
        #expect(try !rooms.biometry.isEnrolled)
        let user = try rooms.user([])
        defer { user.leave() }
        #expect(refusal { _ = try rooms.read("s", "set") } == .biometryNotEnrolled)
    }
}
