// Effects of time: delays after wrong passcodes, sleep, idleness and grace periods, with an enclave whose clocks the test moves.

import Foundation
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

@Suite("Time")
struct TimeTests {
    private let rooms: Rooms
    private let clock: EnclaveClockFile

    init() throws {
        rooms = try Rooms(hasClock: true)
        clock = try EnclaveClockFile(of: rooms)
        try rooms.setPasscode()
    }

    private func guess(_ passcode: String = "not this one") -> Refusal? {
        do { try rooms.unlock(passcode) } catch let refusal as Refusal { return refusal } catch { Issue.record("\(error)") }
        return nil
    }

    private var secondsToWait: Int64 { get throws { try rooms.authentication.status().device.secondsToWait } }

    @Test("After five wrong attempts the delays follow the table", .proves("C-142", "C-143"))
    func delaysFollowTheTableAfterFiveAttempts() throws {
        for left in [4, 3, 2, 1, 0] as [Int64] {
            let refusal = guess()
            #expect(refusal?.reason == .authenticationFailed && refusal?.attemptsLeft == left)
        }
        for minutes in [1, 5, 15, 30, 60, 60, 60] as [UInt64] {
            #expect(guess(Rooms.passcode)?.reason == .lockedOut)
            // How long the machine may halt meanwhile.
            let halt: UInt64 = minutes == 1 ? 55 : 120
            #expect(try (minutes * 60 - halt...minutes * 60).contains(UInt64(secondsToWait)))
            // Setting the wall clock does not help either.
            try clock.moveWall(seconds: 400 * 24 * 3600)
            #expect(guess(Rooms.passcode)?.reason == .lockedOut)
            try clock.advance(seconds: minutes * 60 - halt)
            #expect(guess(Rooms.passcode)?.reason == .lockedOut)
            try clock.advance(seconds: halt + 1)
            // One attempt, and the next delay.
            #expect(guess()?.reason == .authenticationFailed)
        }
        try clock.advance(seconds: 3601)
        #expect(guess(Rooms.passcode) == nil)
        #expect(try rooms.authentication.status().device.attemptsLeft == 5)
    }

    @Test("A restart begins the delay again and keeps the count", .proves("C-143"))
    func restartRestartsTheDelayAndKeepsTheCount() throws {
        for _ in 1...6 {
            _ = guess()
            try clock.advance(seconds: 61)
        }
        // The sixth started five minutes, one of which is over.
        #expect(try (120...240).contains(secondsToWait))
        try rooms.killAndAwait("enclaved")
        try awaitTrue("the delay from its beginning") { try (241...300).contains(secondsToWait) }
        #expect(guess(Rooms.passcode)?.reason == .lockedOut)
        try clock.advance(seconds: 301)
        #expect(guess()?.reason == .authenticationFailed)
        #expect(try (780...900).contains(secondsToWait))
    }

    @Test("The status names the callers of wrong attempts") func statusNamesTheCallersOfWrongAttempts() throws {
        try rooms.awaitIdentification()
        _ = guess()
        _ = guess()
        let guesses = try rooms.authentication.status().device.failedAttempts
        let executable = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        #expect(guesses.map(\.purpose) == [.unlock, .unlock])
        #expect(guesses.allSatisfy { executable.hasPrefix($0.who) || $0.who == executable })
        // Remembered after a restart, and over with the correct passcode.
        try rooms.killAndAwait("enclaved")
        try awaitTrue("the guesses kept") { try rooms.authentication.status().device.failedAttempts == guesses }
        #expect(guess(Rooms.passcode) == nil)
        #expect(try rooms.authentication.status().device.failedAttempts.isEmpty)
    }

    @Test("An unannounced sleep locks at the next use") func unannouncedSleepLocksAtTheNextUse() throws {
        try rooms.add("s", "a", "class A")
        try rooms.add("s", "c", "class C", .afterFirstUnlock)
        try clock.advance(seconds: 3600)
        #expect(try rooms.read("s", "a") == "class A")
        try clock.machineSleeps(forSeconds: 5)
        #expect(refusal { _ = try rooms.read("s", "a") } == .locked)
        #expect(try rooms.authentication.status().device.cause == .slept)
        #expect(try rooms.read("s", "c") == "class C")
        try rooms.unlock()
        #expect(try rooms.read("s", "a") == "class A")
    }

    @Test("A short sleep within the grace period does not lock") func shortSleepWithinTheGracePeriodDoesNotLock() throws {
        try rooms.add("s", "a", "class A")
        try rooms.authentication.configure(
            LockSettings(graceSeconds: 300, idleSeconds: 0, locksWithScreen: false), passcode: secret(Rooms.passcode))
        try clock.machineSleeps(forSeconds: 200)
        #expect(try rooms.read("s", "a") == "class A")
        try clock.machineSleeps(forSeconds: 310)
        #expect(refusal { _ = try rooms.read("s", "a") } == .locked)
    }

    @Test("The keychain locks after idle time, which each use restarts") func idleTimeLocksAndUseRestartsIt() throws {
        try rooms.add("s", "a", "class A")
        // Only the passcode authorizes a change of when it locks.
        let settings = LockSettings(graceSeconds: 0, idleSeconds: 600, locksWithScreen: false)
        #expect(refusal { try rooms.authentication.configure(settings, passcode: secret("not this one")) } == .authenticationFailed)
        try rooms.authentication.configure(settings, passcode: secret(Rooms.passcode))
        for _ in 1...3 {
            try clock.advance(seconds: 400)
            #expect(try rooms.read("s", "a") == "class A")
        }
        try clock.advance(seconds: 601)
        #expect(refusal { _ = try rooms.read("s", "a") } == .locked)
        #expect(try rooms.authentication.status().device.cause == .idle)
    }
}
