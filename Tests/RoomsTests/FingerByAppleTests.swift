// Access control, presence and classes through Apple's API, with a reader at the shared rooms.

import Foundation
import Glibc
import LocalAuthentication
import Security
import TestSupport
import Testing
import VaubanAuthenticationClient
import VaubanLinuxHost

extension AppleNames {
    @Suite("Fingerprints through Apple's API")
    struct FingerByAppleTests {
        let rooms: Rooms
        let service = "fingers-\(UUID().uuidString)"

        init() throws { rooms = try SharedRooms.use() }

        private func control(_ accessible: CFString, _ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
            try #require(SecAccessControlCreateWithFlags(kCFAllocatorDefault, accessible, flags, nil))
        }

        private func add(_ account: String, _ value: String, with more: [String: Any] = [:]) -> OSStatus {
            let item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service, kSecAttrAccount as String: account,
                kSecValueData as String: Data(value.utf8),
            ]
            return SecItemAdd(item.merging(more) { $1 } as CFDictionary, nil)
        }

        private func query(_ account: String, _ more: [String: Any] = [:]) -> CFDictionary {
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service, kSecAttrAccount as String: account,
            ]
            return query.merging(more) { $1 } as CFDictionary
        }

        private func read(_ account: String) -> (status: OSStatus, text: String?) {
            var result: AnyObject?
            let status = SecItemCopyMatching(query(account, [kSecReturnData as String: true]), &result)
            return (status, (result as? Data).map { String(decoding: $0, as: UTF8.self) })
        }

        /// The three uses of the talk: more protection for a saved credential, no user name and password at each launch, and a key for the
        /// application's own files.
        @Test("An access control can protect a saved credential, a login and an application's key", .proves("C-093", "C-094"))
        func usesOfAnItemWithAnAccessControl() async throws {
            try await rooms.withEnrolledFinger { reader in
                let presence = try control(kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .userPresence)
                let finger = try control(kSecAttrAccessibleWhenUnlocked, .biometryAny)
                let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
                #expect(add("credential", "a password", with: [kSecAttrAccessControl as String: presence]) == errSecSuccess)
                #expect(add("session", "a token", with: [kSecAttrAccessControl as String: finger]) == errSecSuccess)
                #expect(add("file key", key, with: [kSecAttrAccessControl as String: presence]) == errSecSuccess)
                let user = try rooms.user([.silence, .silence, .silence, .silence])
                defer { user.leave() }
                reader.expect(.match, .match, .match, .miss, .miss, .miss)
                #expect(read("credential").text == "a password")
                #expect(read("session").text == "a token")
                #expect(read("file key").text == key)
                try awaitTrue("the prompts") { user.requests.count == 3 }
                // Without a match there is no secret: there is nothing to turn from "no" to "yes".
                let refused = read("session")
                #expect(refused.status == errSecAuthFailed && refused.text == nil)
            }
        }

        /// No flags, and an evaluation before the read: no count of the enclave applies to the item.
        @Test("A lockout does not affect items without flags", .proves("C-144"))
        func lockoutDoesNotAffectItemsWithoutFlags() async throws {
            try await rooms.withEnrolledFinger { reader in
                let none = try control(kSecAttrAccessibleWhenUnlocked, [])
                #expect(add("plain", "no lock-out here", with: [kSecAttrAccessControl as String: none]) == errSecSuccess)
                let user = try rooms.user([.silence, .silence, .silence])
                defer { user.leave() }
                let context = LAContext()
                reader.expect(.match, .miss, .miss, .miss, .miss, .miss)
                #expect(try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "show the note"))
                #expect(read("plain").text == "no lock-out here")
                // During a lockout the evaluation fails; the application still decides what to do, and the read works.
                for _ in 1...2 {
                    await #expect(throws: LAError.self) {
                        try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "show the note")
                    }
                }
                var error: NSError?
                #expect(!context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error))
                #expect(error?.code == LAError.Code.biometryLockout.rawValue)
                #expect(read("plain").text == "no lock-out here")
                try awaitTrue("the prompts") { user.requests.count == 3 }
            }
        }

        /// The default is the recommended class.
        @Test("The default protection is when unlocked", .proves("C-052", "C-066"))
        func defaultProtectionIsWhenUnlocked() throws {
            #expect(add("default", "x") == errSecSuccess)
            var result: AnyObject?
            #expect(SecItemCopyMatching(query("default", [kSecReturnAttributes as String: true]), &result) == errSecSuccess)
            #expect((result as? [String: Any])?[kSecAttrAccessible as String] as? String == kSecAttrAccessibleWhenUnlocked as String)
            // The when-passcode-set class is only for callers that name it.
            let other: [String: Any] = [kSecAttrAccessible as String: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly]
            #expect(SecItemCopyMatching(query("default", other), nil) == errSecItemNotFound)
            #expect(add("named", "x", with: other) == errSecSuccess)
            #expect(SecItemCopyMatching(query("named", other), nil) == errSecSuccess)
        }

        /// An item can get more protection in place, and has it from then on.
        @Test("An item can be moved to a stricter protection class in place", .proves("C-067"))
        func itemMovesToAStricterClassInPlace() throws {
            #expect(add("raised", "first loose", with: [kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlock]) == errSecSuccess)
            try rooms.authentication.lock()
            #expect(read("raised").text == "first loose")
            try rooms.unlock()
            let change = [kSecAttrAccessible as String: kSecAttrAccessibleWhenUnlockedThisDeviceOnly]
            #expect(SecItemUpdate(query("raised"), change as CFDictionary) == errSecSuccess)
            #expect(read("raised").text == "first loose")
            try rooms.authentication.lock()
            #expect(read("raised").status == errSecInteractionNotAllowed)
            try rooms.unlock()
        }

        /// A credential of this device: of a class that stays here, or with a control; reported as such; with a control it cannot be
        /// synchronizable.
        @Test("A credential for this device only keeps its accessibility and cannot be synchronizable", .proves("C-068"))
        func credentialForThisDeviceOnlyKeepsItsAccessibility() throws {
            let here: [String: Any] = [kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly]
            #expect(add("cookie", "limited use", with: here) == errSecSuccess)
            #expect(
                add(
                    "messaging key", "x",
                    with: [kSecAttrAccessControl as String: try control(kSecAttrAccessibleWhenUnlocked, .userPresence)])
                    == errSecSuccess)
            var result: AnyObject?
            #expect(SecItemCopyMatching(query("cookie", [kSecReturnAttributes as String: true]), &result) == errSecSuccess)
            #expect(
                (result as? [String: Any])?[kSecAttrAccessible as String] as? String == kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
                    as String)
            // An item that requires the user cannot synchronize to other devices.
            let synchronizable: [String: Any] = [
                kSecAttrAccessControl as String: try control(kSecAttrAccessibleWhenUnlocked, .userPresence),
                kSecAttrSynchronizable as String: true,
            ]
            #expect(add("nowhere else", "x", with: synchronizable) == errSecParam)

        }
    }
}
