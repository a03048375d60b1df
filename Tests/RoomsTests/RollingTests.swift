// Rows moving to new class keys while the rooms are killed, and the machine's sleep, with the real rooms.

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

@Suite("Rolling keys")
struct RollingTests {
    private static let rows = 2000
    private static let newPasscode = "another horse"

    @Test("Two thousand rows get new keys in spite of kills, and each opens")
    func twoThousandRowsGetNewKeysInSpiteOfKills() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let classes: [ProtectionClass] = [.whenUnlocked, .afterFirstUnlock, .always, .whenPasscodeSetThisDeviceOnly]
        let presence = try AccessControl(protection: .whenUnlocked, flags: .userPresence)
        for number in 0..<Self.rows {
            try rooms.add("roll", "\(number)", "value \(number)", classes[number % classes.count], control: number == 8 ? presence : nil)
        }
        try rooms.authentication.changePasscode(from: secret(Rooms.passcode), to: secret(Self.newPasscode), rolls: true)
        #expect(try rooms.authentication.status().device.hasOlderKeys)
        var batches: [RewrapProgress] = []
        for round in 0..<6 {
            // The batch is in progress when the room is killed; what it has written remains, the rest is unchanged.
            let begun = DispatchSemaphore(value: 0)
            let ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                begun.signal()
                _ = try? rooms.keychain.rewrap()
                ended.signal()
            }
            begun.wait()
            let room = round.isMultiple(of: 2) ? "keychaind" : "enclaved"
            try rooms.killAndAwait(room)
            #expect(ended.wait(timeout: .now() + HangLimit.seconds) == .success)
            if room == "enclaved" { try retry { try rooms.unlock(Self.newPasscode) } }
            try retry { batches.append(try rooms.keychain.rewrap()) }
            #expect(try rooms.read("roll", "\(round)") == "value \(round)")
        }
        while batches.last?.left != 0 { try retry { batches.append(try rooms.keychain.rewrap()) } }
        #expect(batches.last?.kept == 0)
        #expect(batches.allSatisfy { $0.done <= 256 })
        let user = try rooms.user([.passcode(Self.newPasscode)])
        defer { user.leave() }
        for number in 0..<Self.rows { #expect(try rooms.read("roll", "\(number)") == "value \(number)") }
        #expect(user.requests.count == 1)
        let hasOlderKeys = try rooms.authentication.status().device.hasOlderKeys
        #expect(!hasOlderKeys)
    }

    /// Items that require the user, and their earlier values, move from one passcode's key pairs to the next one's; the older pairs are
    /// removed, and everything opens as before.
    @Test("Items from several passcodes are wrapped again for the current one")
    func itemsOfManyPasscodesAreRewrappedToTheCurrentPairs() throws {
        let rooms = try Rooms()
        let presence = try AccessControl(protection: .afterFirstUnlock, flags: .userPresence)
        for round in 0..<6 {
            try rooms.setPasscode()
            try rooms.add("pairs", "\(round)", "value \(round)", .afterFirstUnlock, control: presence)
            // A kill between two batches, or before the first: what is left moves after the next passcode.
            if round == 3 {
                try rooms.killAndAwait("enclaved")
                try retry { try rooms.unlock(Rooms.passcode) }
            }
            var progress: RewrapProgress?
            while progress?.left != 0 { try retry { progress = try rooms.keychain.rewrap() } }
            #expect(progress?.kept == 0)
            let hasOlderKeys = try rooms.authentication.status().device.hasOlderKeys
            #expect(!hasOlderKeys)
            if round < 5 { try rooms.authentication.removePasscode(secret(Rooms.passcode)) }
        }
        let user = try rooms.user(Array(repeating: .passcode(Rooms.passcode), count: 6))
        defer { user.leave() }
        for round in 0..<6 { #expect(try rooms.read("pairs", "\(round)") == "value \(round)") }
        #expect(user.requests.count == 6)
    }

    /// An erased keychain starts over, and no row of the old one is in the way or in the database.
    @Test("An erased keychain begins again, without rows of the old one") func anErasedKeychainBeginsAgain() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        for number in 0..<20 { try rooms.add("erase", "\(number)", "value \(number)") }
        let passcode: SecretBytes? = secret(Rooms.passcode)
        try rooms.authentication.erase(passcode)
        try rooms.keychain.discard()
        #expect(try rooms.rows().isEmpty)
        #expect(refusal { _ = try rooms.read("erase", "1") } == .itemNotFound)
        try rooms.add("erase", "1", "a new value")
        #expect(try rooms.read("erase", "1") == "a new value")
    }

    /// Finding an item without its value needs only leased keys: if keychaind did not check the clock, it would not ask the enclave and
    /// would not notice that the machine has slept.
    @Test("Leases are renewed after a sleep") func leasesAreRenewedAfterSleep() throws {
        let clock = "\(NSTemporaryDirectory())/clock-\(UUID().uuidString)"
        try "0 0\n".write(toFile: clock, atomically: false, encoding: .utf8)
        defer { unlink(clock) }
        let rooms = try Rooms(enclaveArguments: ["--clock", clock])
        try rooms.setPasscode()
        try rooms.add("sleep", "a", "v")
        _ = try rooms.keychain.copyMatching(Rooms.query("sleep", "a"))
        for file in [clock, "\(rooms.home)/keychain/clock"] {
            try "7200000000000 0\n".write(toFile: file, atomically: false, encoding: .utf8)
        }
        #expect(refusal { _ = try rooms.keychain.copyMatching(Rooms.query("sleep", "a")) } == .locked)
        try rooms.unlock()
        #expect(try rooms.read("sleep", "a") == "v")
    }

    private func retry(_ body: () throws -> Void) throws {
        let deadline = MachineClock.monotonic + HangLimit.nanoseconds
        while true {
            do { return try body() } catch { if MachineClock.monotonic > deadline { throw error } }
            sched_yield()
        }
    }
}
