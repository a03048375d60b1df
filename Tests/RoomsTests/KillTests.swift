// The enclave killed during changes of its state, at moments that a seed chooses: the result is the old state or the new one, and every
// item opens in it.

import Foundation
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

@Suite("Kills during changes", .serialized)
struct KillTests {
    enum Change: String, CaseIterable { case set, change, changeByPrompt, remove, roll, erase }

    private static let rounds = 8
    /// If no kill came in time, which happens on a busy machine, there are more rounds.
    private static let roundsMax = 300
    /// Parts of the time that the change once took, which may have been slow. A kill before the change has begun is like one after it,
    /// since authd then sends the request to the next enclave.
    private static let parts: [UInt64] = [150, 100, 50, 25, 10]
    private static let accounts = ["a", "c", "d", "p"]

    @Test("A kill during a change leaves the old state or the new one", arguments: Change.allCases)
    func aKillLeavesTheOldStateOrTheNew(_ change: Change) throws {
        let rooms = try Rooms()
        var random = Seeded(state: change.rawValue.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) } | 1)
        // The duration of the change without a kill.
        var (old, new) = ("the first passcode", "the second passcode")
        try prepare(rooms, for: change, passcode: old)
        var began = MachineClock.monotonic
        try perform(change, rooms, from: old, to: new) { began = MachineClock.monotonic }
        let span = max(MachineClock.monotonic - began, 2_000_000)
        var ends = [0, 0]
        for round in 1...Self.roundsMax where round <= Self.rounds || ends[0] == 0 {
            try reset(rooms, change)
            (old, new) = ("old passcode \(round)", "new passcode \(round)")
            try prepare(rooms, for: change, passcode: old)
            let enclave = try rooms.process(of: "enclaved")
            let (start, over) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let home = rooms
            let (from, to) = (old, new)
            Thread.detachNewThread {
                try? self.perform(change, home, from: from, to: to) { start.signal() }
                over.signal()
            }
            #expect(start.wait(timeout: .now() + HangLimit.seconds) == .success)
            let moment = MachineClock.monotonic + random.next(below: span * Self.parts[round % Self.parts.count] / 100)
            while MachineClock.monotonic < moment { sched_yield() }
            kill(enclave, SIGKILL)
            #expect(over.wait(timeout: .now() + HangLimit.seconds) == .success)
            try awaitTrue("the enclave again") { try rooms.process(of: "enclaved") != enclave }
            try awaitTrue("its state") { try rooms.authentication.status().device.lock != .unreadable }
            let isNew = try expectOldOrNew(in: rooms, after: change, old: old, new: new)
            ends[isNew ? 1 : 0] += 1
        }
        // If every kill came too early or too late, nothing was tested.
        #expect(ends[0] > 0)
        print("\(change): killed \(ends[0] + ends[1]) times, \(ends[0]) ended in the old state, \(ends[1]) in the new")
    }

    /// Returns true for the new state.
    private func expectOldOrNew(in rooms: Rooms, after change: Change, old: String, new: String) throws -> Bool {
        let status = try answered { try rooms.authentication.status() }.device
        #expect(status.warnings.allSatisfy { !$0.contains("set aside") }, "\(status.warnings)")
        switch change {
        case .set:
            if status.passcodeIsSet { try rooms.unlock(new) }
            try expectItems(rooms, ["a", "c", "d"])
            return status.passcodeIsSet
        case .remove:
            if status.passcodeIsSet { try rooms.unlock(old) }
            try expectItems(rooms, status.passcodeIsSet ? Self.accounts : ["a", "c", "d"])
            if !status.passcodeIsSet { #expect(refusal { _ = try rooms.read("s", "p") } == .itemNotFound) }
            return !status.passcodeIsSet
        case .change, .changeByPrompt, .roll:
            #expect(status.passcodeIsSet)
            let isOld = refusal { try rooms.unlock(old) } == nil
            if !isOld { try rooms.unlock(new) }
            try expectItems(rooms, Self.accounts)
            return !isOld
        case .erase:
            if status.passcodeIsSet {
                try rooms.unlock(old)
                try expectItems(rooms, Self.accounts)
            } else {
                for account in Self.accounts { #expect(refusal { _ = try rooms.read("s", account) } == .itemNotFound) }
            }
            return !status.passcodeIsSet
        }
    }

    private func expectItems(_ rooms: Rooms, _ accounts: [String]) throws {
        for account in accounts { #expect(try rooms.read("s", account) == "value \(account)", "\(account)") }
    }

    private func prepare(_ rooms: Rooms, for change: Change, passcode: String) throws {
        if change != .set {
            try rooms.setPasscode(passcode)
            try rooms.add("s", "p", "value p", .whenPasscodeSetThisDeviceOnly)
        }
        try rooms.add("s", "a", "value a")
        try rooms.add("s", "c", "value c", .afterFirstUnlock)
        try rooms.add("s", "d", "value d", .always)
    }

    /// Begins the next round from scratch.
    private func reset(_ rooms: Rooms, _ change: Change) throws {
        try rooms.stopService()
        for folder in ["enclave", "keychain"] { try? FileManager.default.removeItem(atPath: "\(rooms.home)/\(folder)") }
        try rooms.startService()
    }

    /// `began` is called before the change: at a prompt, once it is shown, since authd sends a request that has not prompted yet to the
    /// next enclave.
    private func perform(_ change: Change, _ rooms: Rooms, from old: String, to new: String, began: () -> Void) throws {
        if change != .changeByPrompt { began() }
        switch change {
        // Once: made again after the kill, it would always end in the new state.
        case .set: try rooms.authentication.setPasscode(secret(new))
        case .change: try rooms.authentication.changePasscode(from: secret(old), to: secret(new))
        case .changeByPrompt:
            let user = try rooms.user([.newPasscode(old, new)])
            defer { user.leave() }
            let call = Running { try rooms.authentication.changeByPrompt(.changePasscode) }
            #expect(user.awaitPrompt())
            began()
            try call.value()
        case .roll: try rooms.authentication.changePasscode(from: secret(old), to: secret(new), rolls: true)
        case .remove: try rooms.authentication.removePasscode(secret(old))
        case .erase: try rooms.authentication.erase(secret(old))
        }
    }
}

/// Numbers that are the same in every run (xorshift64).
private struct Seeded {
    var state: UInt64

    mutating func next(below bound: UInt64) -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state % bound
    }
}
