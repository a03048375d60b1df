// Earlier values and deleted items through the real rooms: Apple's functions create them and never return them, and killing keychaind
// during a write leaves an item and its history consistent.

import Foundation
import Glibc
import Security
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

@Suite("Earlier values in the rooms", .serialized)
struct HistoryRoomsTests {
    private func earlier(_ number: Int, _ rooms: Rooms) throws -> String { try rooms.earlier(number, service: "s", account: "a") }

    @Test("Killing keychaind at any moment of an update leaves the old or the new value, each with its history")
    func kills() throws {
        let rooms = try Rooms()
        try rooms.add("s", "a", "value 0")
        var known = 0
        var random = SystemRandomNumberGenerator()
        for _ in 0..<12 {
            let room = try rooms.process(of: "keychaind")
            let written = Mutex(known)
            let isStopping = Mutex(false)
            let over = DispatchSemaphore(value: 0)
            let (client, first) = (rooms.keychain, known + 1)
            Thread.detachNewThread {
                for number in first... {
                    if isStopping.withLock({ $0 }) { break }
                    let value: SecretBytes? = secret("value \(number)")
                    let changes = ItemChanges(attributes: ItemAttributes(), hasData: true)
                    guard (try? client.update(Rooms.query("s", "a"), changes, secret: value)) != nil else { break }
                    written.withLock { $0 = number }
                }
                over.signal()
            }
            let start = known
            try awaitTrue("a few updates") { written.withLock { $0 } > start + 2 }
            let moment = MachineClock.monotonic + UInt64.random(in: 0...5_000_000, using: &random)
            while MachineClock.monotonic < moment { sched_yield() }
            isStopping.withLock { $0 = true }
            try rooms.killAndAwait("keychaind", room)
            #expect(over.wait(timeout: .now() + HangLimit.seconds) == .success)
            let acknowledged = written.withLock { $0 }
            let value = try rooms.read("s", "a")
            let number = try #require(value.split(separator: " ").last.flatMap { Int($0) })
            #expect(number == acknowledged || number == acknowledged + 1, "\(value), and \(acknowledged) was acknowledged")
            let count = try rooms.keychain.earlierValues(of: Rooms.query("s", "a")).count
            #expect(count == min(number, 10))
            for past in 1...count { #expect(try earlier(past, rooms) == "value \(number - past)") }
            known = number
        }
    }

    @Test("Ten earlier versions with the largest attributes are listed")
    func largestAttributes() throws {
        let rooms = try Rooms()
        try rooms.add("s", "a", "value 0")
        let comments = (1...11).map { AttributeValue.text(String(repeating: "\($0 % 10)", count: 57_000)) }
        for comment in comments {
            let changes = ItemChanges(attributes: ItemAttributes([.comment: comment]), hasData: true)
            let value: SecretBytes? = secret("value")
            try rooms.keychain.update(Rooms.query("s", "a"), changes, secret: value)
        }
        let versions = try rooms.keychain.versions(of: Rooms.query("s", "a"))
        #expect(versions.present.attributes[.comment] == comments.last)
        #expect(versions.earlier.map { $0.record.attributes[.comment] } == comments.dropLast().reversed())
    }

    @Test("An earlier value of a protected item needs the user's approval")
    func earlierValuePrompts() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let control = try AccessControl(protection: .whenUnlocked, flags: .userPresence)
        try rooms.add("s", "a", "first", control: control)
        let user = try rooms.user([.passcode(Rooms.passcode), .passcode(Rooms.passcode), .cancel])
        let value: SecretBytes? = secret("second")
        try rooms.keychain.update(Rooms.query("s", "a"), ItemChanges(attributes: ItemAttributes(), hasData: true), secret: value)
        #expect(try earlier(1, rooms) == "first")
        #expect(refusal { _ = try earlier(1, rooms) } == .cancelled)
        withExtendedLifetime(user) {}
        try rooms.authentication.lock()
        #expect(refusal { _ = try rooms.keychain.earlierValues(of: Rooms.query("s", "a")) } == .locked)
    }
}

extension Rooms {
    fileprivate func earlier(_ number: Int, service: String, account: String) throws -> String {
        guard let value = try keychain.earlierValue(number, of: Self.query(service, account)).takeSecret() else { return "" }
        return String(decoding: value.disclosed(), as: UTF8.self)
    }
}

extension AppleNames {
    @Suite("SecItem and the history")
    struct SecItemHistoryTests {
        let service = "service-\(UUID().uuidString)"
        let rooms: Rooms

        init() throws { rooms = try SharedRooms.use() }

        private func query(_ more: [CFString: Any] = [:]) -> CFDictionary {
            [kSecClass: kSecClassGenericPassword, kSecAttrService: service].merging(more) { $1 } as CFDictionary
        }

        private func item(_ value: String) -> CFDictionary { query([kSecAttrAccount: "a", kSecValueData: Data(value.utf8)]) }

        @Test("An update and a delete keep the previous value, which no query, count or reference returns")
        func invisible() throws {
            var reference: AnyObject?
            #expect(
                SecItemAdd(query([kSecAttrAccount: "a", kSecValueData: Data("one".utf8), kSecReturnPersistentRef: true]), &reference)
                    == errSecSuccess)
            #expect(SecItemUpdate(query(), [kSecValueData: Data("two".utf8)] as CFDictionary) == errSecSuccess)
            #expect(try rooms.earlier(1, service: service, account: "a") == "one")
            var found: AnyObject?
            #expect(SecItemCopyMatching(query([kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true]), &found) == errSecSuccess)
            #expect((found as? [Data]) == [Data("two".utf8)])
            #expect(SecItemDelete(query()) == errSecSuccess)
            #expect(SecItemCopyMatching(query(), nil) == errSecItemNotFound)
            let byReference = [kSecValuePersistentRef: try #require(reference), kSecReturnData: true] as [CFString: Any]
            #expect(SecItemCopyMatching(byReference as CFDictionary, nil) == errSecItemNotFound)
            #expect(SecItemUpdate(query(), [kSecValueData: Data()] as CFDictionary) == errSecItemNotFound)
            // Set by a delete and an add, as the most used wrappers do; the name is free each time.
            for number in 0..<3 {
                _ = SecItemDelete(query())
                #expect(SecItemAdd(item("again \(number)"), nil) == errSecSuccess)
            }
            let deleted = try rooms.keychain.deletedItems(ofAllOwners: false).filter { $0.record.attributes[.service] == .text(service) }
            #expect(deleted.count == 3)
            #expect(refusal { try rooms.keychain.undelete(deleted[0]) } == .duplicateItem)
            #expect(SecItemDelete(query()) == errSecSuccess)
            try rooms.keychain.undelete(deleted[0])
            #expect(SecItemCopyMatching(query([kSecReturnData: true]), &found) == errSecSuccess)
            #expect(found as? Data == Data("two".utf8))
        }
    }
}
