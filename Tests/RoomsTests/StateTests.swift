// What the keychain's state opens and closes, through the rooms, and what a copied disk reveals.

import Enclave
import EnclaveBook
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

@Suite("Device state")
struct StateTests {
    @Test("A lock closes when-unlocked items and leaves after-first-unlock items open", .proves("C-036", "C-053", "C-056"))
    func lockingClosesWhenUnlockedAndLeavesAfterFirstUnlock() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.add("s", "a", "class A")
        try rooms.add("s", "c", "class C", .afterFirstUnlock)
        try rooms.authentication.lock()
        #expect(refusal { _ = try rooms.read("s", "a") } == .locked)
        #expect(refusal { _ = try rooms.keychain.copyMatching(Rooms.query("s", "a")) } == .locked)
        #expect(try rooms.read("s", "c") == "class C")
        #expect(refusal { try rooms.add("s", "new", "x") } == .locked)
        #expect(refusal { try rooms.add("s", "a", "x") } == .locked)
        #expect(refusal { _ = try rooms.read("s", "nobody") } == .itemNotFound)
        try rooms.unlock()
        #expect(try rooms.read("s", "a") == "class A")
    }

    @Test("A restarted enclave is before the first unlock") func restartedEnclaveIsBeforeFirstUnlock() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.add("s", "a", "1")
        try rooms.add("s", "c", "2", .afterFirstUnlock)
        try rooms.add("s", "d", "3", .always)
        try rooms.killAndAwait("enclaved")
        #expect(try eventually { try rooms.authentication.status().device.lock } == .beforeFirstUnlock)
        for account in ["a", "c", "nobody"] { #expect(refusal { _ = try rooms.read("s", account) } == .beforeFirstUnlock) }
        #expect(try rooms.read("s", "d") == "3")
        #expect(refusal { try rooms.add("s", "new", "x") } == .beforeFirstUnlock)
        try rooms.unlock()
        #expect(try rooms.read("s", "c") == "2")
    }

    @Test("Without a passcode, items that need one are refused", .proves("C-060", "C-061", "C-079"))
    func withoutAPasscodeThePasscodeClassAndPresenceAreRefused() throws {
        let rooms = try Rooms()
        #expect(refusal { try rooms.add("s", "p", "x", .whenPasscodeSetThisDeviceOnly) } == .passcodeNotSet)
        let presence = try AccessControl(protection: .whenUnlocked, flags: .userPresence)
        try rooms.add("s", "u", "x", control: presence)
        #expect(refusal { _ = try rooms.read("s", "u") } == .passcodeNotSet)
        #expect(refusal { try rooms.authentication.lock() } == .passcodeNotSet)
        // Items from before stay readable when the first passcode is set, and then require it.
        try rooms.add("s", "plain", "before")
        try rooms.setPasscode()
        #expect(try rooms.read("s", "plain") == "before")
        let user = try rooms.user([.passcode(Rooms.passcode)])
        defer { user.leave() }
        #expect(try rooms.read("s", "u") == "x")
        // With a passcode the when-passcode-set class exists, and opens and closes as the when-unlocked class does.
        try rooms.add("s", "p", "with a passcode", .whenPasscodeSetThisDeviceOnly)
        try rooms.authentication.lock()
        #expect(refusal { _ = try rooms.read("s", "p") } == .locked)
        try rooms.unlock()
        #expect(try rooms.read("s", "p") == "with a passcode")
    }

    @Test("A wrong passcode reports the attempts that are left, and the fifth causes a delay")
    func wrongPasscodeReportsAttemptsLeftAndTheFifthDelays() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        for left in [4, 3, 2, 1] as [Int64] {
            let wrong = #expect(throws: Refusal.self) { try rooms.unlock("not it") }
            #expect(wrong?.reason == .authenticationFailed && wrong?.attemptsLeft == left)
        }
        #expect(refusal { try rooms.unlock("not it") } == .authenticationFailed)
        // The correct passcode is refused too during the delay, and a restart does not end it.
        #expect(refusal { try rooms.unlock() } == .lockedOut)
        try rooms.killAndAwait("enclaved")
        #expect(try eventually { try rooms.authentication.status().device.secondsToWait } > 0)
        #expect(refusal { try rooms.unlock() } == .lockedOut)
    }

    @Test("Changing the passcode writes no item") func changingThePasscodeWritesNoItem() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.add("s", "a", "kept")
        #expect(
            refusal { try rooms.authentication.changePasscode(from: secret("wrong one"), to: secret("another one")) }
                == .authenticationFailed)
        #expect(refusal { try rooms.authentication.changePasscode(from: secret(Rooms.passcode), to: secret("1234")) } == .passcodeTooWeak)
        try rooms.authentication.changePasscode(from: secret(Rooms.passcode), to: secret("another one"))
        try rooms.authentication.lock()
        #expect(refusal { try rooms.unlock() } == .authenticationFailed)
        try rooms.unlock("another one")
        #expect(try rooms.read("s", "a") == "kept")
    }

    /// The slots of the passcode, opened without the rooms: they open with both secrets, but not with one of them and a wrong other.
    @Test("The passcode's slot opens only with both the device secret and the passcode", .proves("C-042"))
    func aPasscodesSlotTakesTheDeviceSecretAndThePasscode() throws {
        let rooms = try Rooms(), other = try Rooms()
        try rooms.setPasscode()
        try rooms.add("s", "a", "value")
        try other.setPasscode()
        let bag = try rooms.keybag()
        let slots = bag.slots.filter { $0.wrapping == .passcodeAndDevice }
        #expect(!slots.isEmpty)
        let (stretched, both) = try rooms.state.passcodeKey(Rooms.passcode, of: bag)
        let wrong = [
            stretched, try rooms.state.passcodeKey("not this one", of: bag).key, try other.state.passcodeKey(Rooms.passcode, of: bag).key,
        ]
        for slot in slots {
            let open = { key in
                try ByTheBook.open(slot.wrapped, key: key, label: "vauban keybag slot v1", context: ByTheBook.slotContext(slot, of: bag))
            }
            #expect(try open(both).count == 32)
            for key in wrong { #expect(throws: (any Error).self) { try open(key) } }
        }
    }

    @Test("A database without the device secret opens nothing", .proves("C-043"))
    func theDatabaseWithoutTheDeviceSecretOpensNothing() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.add("s", "a", "at home only")
        try rooms.stopService()

        // The whole folder except the device secret, on another device, which has its own secret.
        let thief = try Rooms()
        _ = try thief.authentication.status()
        try thief.stopService()
        let files = FileManager.default
        for folder in ["keychain", "enclave/people"] {
            try? files.removeItem(atPath: "\(thief.home)/\(folder)")
            try files.copyItem(atPath: "\(rooms.home)/\(folder)", toPath: "\(thief.home)/\(folder)")
        }
        try thief.startService()
        #expect(refusal { try thief.unlock() } == .stateUnreadable)
        #expect([.stateUnreadable, .beforeFirstUnlock].contains(refusal { _ = try thief.read("s", "a") }))
        // The copy is complete: with the device secret and the passcode, it opens.
        try thief.stopService()
        try files.removeItem(atPath: "\(thief.home)/enclave/device-secret")
        try files.copyItem(atPath: "\(rooms.home)/enclave/device-secret", toPath: "\(thief.home)/enclave/device-secret")
        try thief.startService()
        #expect(refusal { _ = try thief.read("s", "a") } == .beforeFirstUnlock)
        try thief.unlock()
        #expect(try thief.read("s", "a") == "at home only")
    }

    @Test("Without the enclave, keychaind finds rows and opens none", .proves("C-035"))
    func keychaindFindsRowsAndOpensNone() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.add("s", "a", "closed without the enclave")
        var attributes = Rooms.query("s", "a")
        attributes.returns.insert(.attributes)
        #expect(try rooms.keychain.copyMatching(attributes).first?.record?.attributes[.account] == .text("a"))
        let enclave = try rooms.process(of: "enclaved")
        try rooms.stop(enclave)
        defer { kill(enclave, SIGCONT) }
        // keychaind still finds the row with its leased keys; the value needs a key that it does not have.
        #expect(try rooms.keychain.copyMatching(attributes).first?.record?.attributes[.account] == .text("a"))
        var value = Rooms.query("s", "a")
        value.returns.insert(.data)
        #expect(refusal { _ = try rooms.keychain.copyMatching(value) } == .unavailable)
    }

    /// Retries while a killed room restarts.
    private func eventually<Value>(_ body: () throws -> Value) throws -> Value {
        let deadline = MachineClock.monotonic + HangLimit.nanoseconds
        while true {
            do { return try body() } catch { if MachineClock.monotonic > deadline { throw error } }
            sched_yield()
        }
    }
}
