// A password of the application's own, in Apple's names, through the rooms to the disk and back.

import Foundation
import Glibc
import KeychainStore
import LocalAuthentication
import Security
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost

extension AppleNames {
    @Suite("Application password")
    struct ApplicationPasswordTests {
        let rooms: Rooms
        let service = "application-password-\(UUID().uuidString)"

        init() throws { rooms = try SharedRooms.use() }

        private func context(_ password: String) -> LAContext {
            let context = LAContext()
            #expect(context.setCredential(Data(password.utf8), type: .applicationPassword))
            return context
        }

        private func add(
            _ account: String = "a", _ value: String = "the value", _ flags: SecAccessControlCreateFlags = .applicationPassword, with context: LAContext?
        ) throws -> OSStatus {
            var item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service, kSecAttrAccount as String: account,
                kSecValueData as String: Data(value.utf8),
                kSecAttrAccessControl as String: try #require(
                    SecAccessControlCreateWithFlags(kCFAllocatorDefault, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, flags, nil)),
            ]
            if let context { item[kSecUseAuthenticationContext as String] = context }
            return SecItemAdd(item as CFDictionary, nil)
        }

        private func query(_ account: String, _ context: LAContext?) -> [String: Any] {
            var query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service, kSecAttrAccount as String: account,
            ]
            if let context { query[kSecUseAuthenticationContext as String] = context }
            return query
        }

        private func read(_ account: String = "a", _ context: LAContext? = nil) -> (status: OSStatus, text: String?) {
            var result: AnyObject?
            let status = SecItemCopyMatching(query(account, context).merging([kSecReturnData as String: true]) { $1 } as CFDictionary, &result)
            return (status, (result as? Data).map { String(decoding: $0, as: UTF8.self) })
        }

        /// As the session shows it: the control and the context are handed to `SecItemAdd`.
        @Test(.proves("C-152", "C-086", "C-133"))
        func theSample() throws {
            var error: Unmanaged<CFError>?
            let accessControl = try #require(
                SecAccessControlCreateWithFlags(
                    kCFAllocatorDefault, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .applicationPassword, &error))
            let context = LAContext()
            context.setCredential("application password".data(using: .utf8), type: .applicationPassword)
            let attributes: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: service,
                kSecAttrAccount as String: "sample",
                kSecValueData as String: Data("secret".utf8),
                kSecAttrAccessControl as String: accessControl,
                kSecUseAuthenticationContext as String: context,
            ]
            #expect(SecItemAdd(attributes as CFDictionary, nil) == errSecSuccess)
            #expect(read("sample", context).text == "secret")
            #expect(read("sample").status == errSecAuthFailed)
        }

        @Test(.proves("C-150"))
        func thePasscodeAndThePasswordAreBothRequired() throws {
            #expect(try add(with: nil) == errSecAuthFailed)
            #expect(try add(with: context("right")) == errSecSuccess)
            // The device is unlocked, so the passcode's key is open: it alone opens nothing.
            for wrong in [nil, context("wrong"), context("righ"), context("right ")] { #expect(read("a", wrong).status == errSecAuthFailed) }
            #expect(read("a", context("right")).text == "the value")
            // The password alone opens nothing either.
            try rooms.authentication.lock()
            #expect(read("a", context("right")).status == errSecInteractionNotAllowed)
            try rooms.unlock()
            #expect(read("a", context("right")).text == "the value")
        }

        @Test(.proves("C-149"))
        func withoutTheFlagThePasscodesKeyIsEnough() throws {
            #expect(try add("plain", "the value", [], with: nil) == errSecSuccess)
            #expect(read("plain").text == "the value")
            #expect(read("plain", context("ignored")).text == "the value")
            try rooms.authentication.lock()
            #expect(read("plain").status == errSecInteractionNotAllowed)
            try rooms.unlock()
        }

        @Test func thePersonIsAskedAsWell() throws {
            #expect(try add("guarded", "the value", [.userPresence, .applicationPassword], with: context("right")) == errSecSuccess)
            let person = try rooms.person([.passcode(Rooms.passcode), .passcode(Rooms.passcode), .cancel])
            defer { person.leave() }
            #expect(read("guarded", context("right")).text == "the value")
            #expect(read("guarded", context("wrong")).status == errSecAuthFailed)
            #expect(read("guarded", context("right")).status == errSecUserCanceled)
        }

        @Test func aNewValueTakesTheNewPassword() throws {
            #expect(try add("changed", "old", .applicationPassword, with: context("one")) == errSecSuccess)
            let change = [kSecValueData as String: Data("new".utf8)] as CFDictionary
            #expect(SecItemUpdate(query("changed", nil) as CFDictionary, change) == errSecAuthFailed)
            #expect(SecItemUpdate(query("changed", context("two")) as CFDictionary, change) == errSecSuccess)
            #expect(read("changed", context("one")).status == errSecAuthFailed)
            #expect(read("changed", context("two")).text == "new")
            // What describes the item needs no password, and changes without one.
            #expect(SecItemUpdate(query("changed", nil) as CFDictionary, [kSecAttrLabel as String: "label"] as CFDictionary) == errSecSuccess)
            var result: AnyObject?
            let attributes = query("changed", nil).merging([kSecReturnAttributes as String: true]) { $1 }
            #expect(SecItemCopyMatching(attributes as CFDictionary, &result) == errSecSuccess)
            #expect((result as? [String: Any])?[kSecAttrLabel as String] as? String == "label")
            #expect(read("changed", context("two")).text == "new")
        }

        /// What lies on the disk differs in kind: the wrapped key carries a layer more. Put under a plain item's row, or with
        /// another item's wrapped key, nothing opens, so no answer of a dialogue stands between.
        @Test(.proves("C-151"))
        func theFlagChangesWhatLiesOnTheDisk() throws {
            #expect(try add("with", "the same value", .applicationPassword, with: context("one")) == errSecSuccess)
            let first = try wrappedKeys()
            #expect(try add("without", "the same value", [], with: nil) == errSecSuccess)
            let both = try wrappedKeys()
            let with = try #require(first.last), without = try #require(both.last)
            // A salt and a second wrap: 16 bytes of salt and 28 of nonce and tag at least.
            #expect(with.wrappedKey.count >= without.wrappedKey.count + 44)
            #expect(with.secret.count == without.secret.count)
            // Another password: another wrapped key and another ciphertext of the same value.
            let again = [kSecValueData as String: Data("the same value".utf8)] as CFDictionary
            #expect(SecItemUpdate(query("with", context("two")) as CFDictionary, again) == errSecSuccess)
            let changed = try #require(try wrappedKeys().first { $0.id == with.id })
            #expect(changed.wrappedKey != with.wrappedKey && changed.secret != with.secret)
            #expect(read("with", context("one")).status == errSecAuthFailed)
            #expect(read("with", context("two")).text == "the same value")
        }

        private struct OnDisk {
            let id: Int64
            let wrappedKey: [UInt8]
            let secret: [UInt8]
        }

        /// All rows as the database holds them, read beside keychaind.
        private func wrappedKeys() throws -> [OnDisk] {
            let folder = try PrivateFolder(path: "\(rooms.home)/keychain/\(geteuid())", creating: false)
            let all = RowSelection(kind: 1, protection: nil, lookup: nil, filter: [], usesDeviceIndex: false)
            let rows = try KeychainDatabase(folder: folder).rows(of: all, after: 0, count: .max, bytesMax: .max)
            return rows.map { OnDisk(id: $0.id, wrappedKey: $0.halves.wrappedKey, secret: $0.halves.secret) }
        }

        @Test(.proves("C-133"))
        func aCredentialIsHeldUntilItIsTakenBack() {
            let context = LAContext()
            #expect(!context.isCredentialSet(.applicationPassword))
            #expect(context.setCredential(Data("one".utf8), type: .applicationPassword))
            #expect(context.isCredentialSet(.applicationPassword) && !context.isCredentialSet(.smartCardPIN))
            #expect(!context.setCredential(Data("1234".utf8), type: .smartCardPIN))
            #expect(!context.setCredential(Data(), type: .applicationPassword))
            #expect(!context.setCredential(Data(count: 1025), type: .applicationPassword))
            #expect(context.isCredentialSet(.applicationPassword))
            #expect(context.setCredential(nil, type: .applicationPassword))
            #expect(!context.isCredentialSet(.applicationPassword))
            #expect(context.setCredential(Data(count: 1024), type: .applicationPassword))
            context.invalidate()
            #expect(!context.isCredentialSet(.applicationPassword))
            #expect(!context.setCredential(Data("one".utf8), type: .applicationPassword))
        }
    }
}
