// When an item of each class can be decrypted, and what happens to each when the passcode is removed.

import Enclave
import EnclaveWire
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

@Suite("Accessibility classes")
struct ClassTests {
    private enum Moment: CaseIterable { case beforeFirstUnlock, unlocked, locked, withoutPasscode }

    /// Returns whether a class is open, by Apple's table, written independently.
    private static func isOpen(_ protection: ProtectionClass, _ moment: Moment) -> Bool {
        switch protection {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly: moment == .unlocked || moment == .withoutPasscode
        case .whenPasscodeSetThisDeviceOnly: moment == .unlocked
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: moment != .beforeFirstUnlock
        case .always, .alwaysThisDeviceOnly: true
        }
    }

    @Test("Every protection class opens only in its lock states", .proves("C-051", "C-055", "C-057", "C-075"))
    func everyClassOpensOnlyInItsLockStates() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        for protection in ProtectionClass.allCases {
            try rooms.add("s", protection.rawValue, "of \(protection.rawValue)", protection)
            // The same class inside an access control.
            try rooms.addGuarded("\(protection.rawValue) within", [], protection: protection, value: "of \(protection.rawValue) within")
        }
        for moment in [Moment.unlocked, .locked, .beforeFirstUnlock, .unlocked, .withoutPasscode] {
            switch moment {
            case .unlocked: try rooms.unlock()
            case .locked: try rooms.authentication.lock()
            case .beforeFirstUnlock:
                try rooms.killAndAwait("enclaved")
                try awaitTrue("the restarted enclave") { try rooms.authentication.status().device.lock == .beforeFirstUnlock }
            case .withoutPasscode: try rooms.authentication.removePasscode(secret(Rooms.passcode))
            }
            for (protection, account) in ProtectionClass.allCases.flatMap({ [($0, $0.rawValue), ($0, "\($0.rawValue) within")] }) {
                if Self.isOpen(protection, moment) {
                    #expect(try rooms.read("s", account) == "of \(account)", "\(account), \(moment)")
                } else {
                    let expected: Refusal.Reason =
                        switch moment {
                        case .locked, .unlocked: .locked
                        case .beforeFirstUnlock: .beforeFirstUnlock
                        case .withoutPasscode: .itemNotFound
                        }
                    #expect(refusal { _ = try rooms.read("s", account) } == expected, "\(account), \(moment)")
                }
            }
        }
    }

    @Test("Removing the passcode destroys the key of the when-passcode-set class", .proves("C-062"))
    func removingThePasscodeDestroysTheKeyOfItsClass() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.add("s", "p", "gone forever", .whenPasscodeSetThisDeviceOnly)
        try rooms.add("s", "a", "stays")
        let purpose = KeyPurpose.protection(.whenPasscodeSetThisDeviceOnly)
        let generation = try #require(try rooms.keybag().current(purpose)?.generation)
        #expect(refusal { try rooms.authentication.removePasscode(secret("not this one")) } == .authenticationFailed)
        #expect(try rooms.read("s", "p") == "gone forever")
        try rooms.authentication.removePasscode(secret(Rooms.passcode))
        // The keybag has no wrapping of the key; only its generation is known, as that of an erased one.
        let after = try rooms.keybag()
        #expect(after.slots.allSatisfy { $0.purpose != purpose && $0.generation != generation })
        #expect(after.destroyed.contains { $0.generation == generation })
        #expect(refusal { _ = try rooms.read("s", "p") } == .itemNotFound)
        // Setting the same passcode again restores nothing, and neither does a restart.
        try rooms.setPasscode()
        #expect(refusal { _ = try rooms.read("s", "p") } == .itemNotFound)
        try rooms.killAndAwait("enclaved")
        try awaitTrue("the restarted enclave") {
            try rooms.unlock(); return true
        }
        #expect(refusal { _ = try rooms.read("s", "p") } == .itemNotFound)
        #expect(try rooms.read("s", "a") == "stays")
    }

    @Test("User presence is refused after the passcode is removed", .proves("C-082"))
    func userPresenceIsRefusedAfterThePasscodeIsRemoved() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .userPresence)
        try rooms.addGuarded("d", .devicePasscode)
        try rooms.addGuarded("any", .biometryAny)
        try rooms.authentication.removePasscode(secret(Rooms.passcode))
        let user = try rooms.user([.passcode(Rooms.passcode)])
        defer { user.leave() }
        reader.expect(.match)
        for account in ["p", "d", "any"] { #expect(refusal { _ = try rooms.read("s", account) } == .passcodeNotSet) }
        // No prompt appeared that could not have helped.
        #expect(user.requests.isEmpty && reader.asks == 0)
        // A new passcode satisfies the policy again; the items still exist.
        try rooms.setPasscode("another one 4711")
        let again = try rooms.user([.passcode("another one 4711")])
        defer { again.leave() }
        #expect(try rooms.read("s", "p") == "guarded")
    }

    @Test("A password cannot have the flag `privateKeyUsage`") func privateKeyUsageDoesNotProtectAPassword() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        for flags in [AccessControlFlags.privateKeyUsage, [.privateKeyUsage, .userPresence]] {
            let control = try AccessControl(protection: .whenUnlocked, flags: flags)
            #expect(refusal { try rooms.add("s", "k", "x", control: control) } == .badParameter)
            // For a key, the control governs its use; reading it out is not one of its operations.
            #expect(control.requirement(for: .sign) != nil && control.requirement(for: .decrypt) == nil)
        }
        #expect(refusal { _ = try rooms.read("s", "k") } == .itemNotFound)
    }

    @Test("An access control without flags keeps its protection and does not prompt", .proves("C-088"))
    func emptyFlagsKeepTheProtectionAndDoNotPrompt() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let user = try rooms.user([])
        defer { user.leave() }
        try rooms.addGuarded("e", [], value: "only at rest")
        #expect(try rooms.read("s", "e") == "only at rest")
        #expect(user.requests.isEmpty)
        try rooms.authentication.lock()
        #expect(refusal { _ = try rooms.read("s", "e") } == .locked)
        var bytes = 0
        for file in try FileManager.default.subpathsOfDirectory(atPath: "\(rooms.home)/keychain") {
            guard let content = FileManager.default.contents(atPath: "\(rooms.home)/keychain/\(file)") else { continue }
            #expect(content.range(of: Data("only at rest".utf8)) == nil, "\(file)")
            bytes += content.count
        }
        #expect(bytes > 4096)
    }

    @Test("The attempt counter and the lock apply to a caller that was served before", .proves("C-070", "C-144"))
    func attemptCounterAndLockApplyToACallerServedBefore() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.addGuarded("p", .userPresence)
        try rooms.add("s", "a", "class A")
        // Without flags, no count of attempts applies to it.
        try rooms.addGuarded("plain", [], value: "no lock-out here")
        let user = try rooms.user([.passcode(Rooms.passcode)])
        defer { user.leave() }
        // The caller is the same, and has just been served.
        #expect(try rooms.read("s", "p") == "guarded")
        #expect(try rooms.read("s", "a") == "class A")
        // Another program uses up the attempts: the same request has another result, although its class is still unlocked.
        for _ in 1...5 { #expect(refusal { try rooms.unlock("not this one") } == .authenticationFailed) }
        #expect(refusal { _ = try rooms.read("s", "p") } == .lockedOut)
        #expect(try rooms.read("s", "a") == "class A")
        #expect(try rooms.read("s", "plain") == "no lock-out here")
        try rooms.authentication.lock()
        #expect(refusal { _ = try rooms.read("s", "a") } == .locked)
        #expect(user.requests.count == 1)
    }
}
