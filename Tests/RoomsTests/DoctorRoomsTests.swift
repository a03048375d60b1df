// `vauban doctor` from the client to the disk: its findings about real rows under a real enclave, and a restored database.

import Foundation
import Glibc
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

@Suite("Doctor")
struct DoctorRoomsTests {
    private func file(_ rooms: Rooms) -> String { "\(rooms.home)/keychain/\(getuid())/keychain.db" }

    private func fill(_ rooms: Rooms) throws {
        try rooms.setPasscode()
        try rooms.add("s", "a", "value a")
        try rooms.add("s", "c", "value c", .afterFirstUnlock)
        try rooms.add("s", "d", "value d", .always)
        try rooms.add("s", "p", "value p", .whenPasscodeSetThisDeviceOnly)
        for flags in [AccessControlFlags.userPresence, .applicationPassword, [.devicePasscode, .applicationPassword]] {
            let control = try AccessControl(protection: .whenUnlocked, flags: flags)
            let record = ItemRecord(
                kind: .genericPassword, attributes: ItemAttributes([.service: .text("s"), .account: .text("control \(flags.rawValue)")]),
                accessControl: control)
            let value: SecretBytes? = secret("guarded")
            let password: SecretBytes? = flags.contains(.applicationPassword) ? secret("application") : nil
            _ = try rooms.keychain.add(record, secret: value, password: password)
        }
    }

    @Test("The doctor verifies every row without a prompt") func doctorVerifiesEveryRowWithoutAPrompt() throws {
        let rooms = try Rooms()
        try fill(rooms)
        let report = try rooms.keychain.examine()
        #expect(report.rows == 7 && report.checked == 7 && report.unopened == 3 && report.found == 0 && report.locked == 0)
        #expect(report.copy?.state == .kept && report.copy?.rows == 7)
        try rooms.authentication.lock()
        let locked = try rooms.keychain.examine()
        #expect(locked.checked == 2 && locked.locked == 5 && locked.found == 0 && locked.copy == nil)
        // The enclave and keychaind restart: nothing of class A or C is open.
        try rooms.killAndAwait("enclaved")
        try awaitTrue("an answer") { (try? rooms.keychain.examine())?.locked == 7 }
        try rooms.unlock()
        #expect(try rooms.keychain.examine().checked == 7)
    }

    /// The enclave checks each row's wrapped key, even if only the user could open it.
    @Test("After new keys every row still verifies, including those that only the user can open")
    func rolledKeysAndGuardedRowsStillVerify() throws {
        let rooms = try Rooms()
        try fill(rooms)
        try rooms.authentication.changePasscode(from: secret(Rooms.passcode), to: secret("another passcode"), rolls: true)
        #expect(try rooms.keychain.examine().checked == 7)
        while try rooms.keychain.rewrap().left > 0 {}
        let report = try rooms.keychain.examine()
        #expect(report.checked == 7 && report.found == 0 && report.copy?.state == .kept)
    }

    @Test("A damaged database is restored from the verified copy on request") func damagedDatabaseIsRestoredOnRequest() throws {
        let rooms = try Rooms()
        try fill(rooms)
        _ = try rooms.keychain.examine()
        try rooms.keychain.delete(Rooms.query("s", "d"))
        try rooms.add("s", "later", "lost")
        #expect(refusal { _ = try rooms.keychain.restorableCopy() } == .notAllowedHere)
        try rooms.stopService()
        for suffix in ["-wal", "-shm"] { unlink(file(rooms) + suffix) }
        try Data(repeating: 0, count: 8192).write(to: URL(fileURLWithPath: file(rooms)))
        try rooms.startService()
        try rooms.unlock()
        #expect(refusal { _ = try rooms.read("s", "a") } == .stateUnreadable)
        #expect(refusal { _ = try rooms.keychain.examine() } == .stateUnreadable)
        let copy = try rooms.keychain.restorableCopy()
        #expect(copy.rows == 7)
        try rooms.keychain.restore(copy)
        #expect(try rooms.read("s", "a") == "value a")
        #expect(try rooms.read("s", "d") == "value d")
        #expect(refusal { _ = try rooms.read("s", "later") } == .itemNotFound)
        #expect(try rooms.keychain.examine().checked == 7)
        #expect(FileManager.default.fileExists(atPath: file(rooms) + ".quarantined-1"))
    }

    @Test("Erasing the keychain removes the verified copy") func erasingEndsTheCopy() throws {
        let rooms = try Rooms()
        try fill(rooms)
        _ = try rooms.keychain.examine()
        try #require(FileManager.default.fileExists(atPath: file(rooms) + ".verified"))
        try rooms.authentication.erase(secret(Rooms.passcode))
        try rooms.keychain.discard()
        #expect(!FileManager.default.fileExists(atPath: file(rooms) + ".verified"))
        #expect(try rooms.keychain.examine().rows == 0)
    }

    // MARK: Sizes

    @Test("A value of one mebibyte is stored, and a larger one is refused with advice", .proves("C-004"))
    func aValueOfOneMebibyteIsKeptAndALargerOneIsRefusedWithAHint() throws {
        let rooms = try Rooms()
        let largest = String(repeating: "x", count: 1 << 20)
        try rooms.add("s", "large", largest)
        #expect(try rooms.read("s", "large") == largest)
        do {
            try rooms.add("s", "larger", largest + "x")
            Issue.record("it was taken")
        } catch let refusal as Refusal {
            #expect(refusal.reason == .dataTooLarge && refusal.status == -25302)
            #expect(refusal.message.contains("larger than 1 MiB") && refusal.message.contains("store its key in the keychain"))
        }
        // The connection and the existing item are unaffected.
        #expect(refusal { _ = try rooms.read("s", "larger") } == .itemNotFound)
        #expect(try rooms.read("s", "large") == largest)
        let change: SecretBytes? = secret(largest + "x")
        #expect(
            refusal { try rooms.keychain.update(Rooms.query("s", "large"), ItemChanges(attributes: ItemAttributes()), secret: change) }
                == .dataTooLarge)
        #expect(try rooms.read("s", "large") == largest)
    }
}
