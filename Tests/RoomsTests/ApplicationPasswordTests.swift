// An application password, through Apple's API and the rooms to the disk and back.

import Enclave
import EnclaveBook
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
import VaubanUserModel

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
            _ account: String = "a", value: String = "the value", flags: SecAccessControlCreateFlags = .applicationPassword,
            with context: LAContext?
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
            let status = SecItemCopyMatching(
                query(account, context).merging([kSecReturnData as String: true]) { $1 } as CFDictionary, &result)
            return (status, (result as? Data).map { String(decoding: $0, as: UTF8.self) })
        }

        /// As in the session: the control and the context are passed to `SecItemAdd`.
        @Test("An item with an application password is added and read with its context alone", .proves("C-152", "C-086", "C-133"))
        func itemsAreReadWithTheirContextAlone() throws {
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
            // This needs a prompt, and there is no prompt agent.
            #expect(read("sample").status == errSecInteractionNotAllowed)
        }

        /// Both items of an identity are added under it.
        @Test("Adding an identity applies the application password to its certificate and its key")
        func passwordAppliesToCertificateAndKeyOfAnIdentity() throws {
            for kind in [kSecClassCertificate, kSecClassKey] { _ = SecItemDelete([kSecClass: kind] as CFDictionary) }
            let certificate = try #require(SecCertificateCreateWithData(nil, try Conformance.certificate("anna.der") as CFData))
            #expect(SecItemAdd([kSecValueRef: certificate] as CFDictionary, nil) == errSecSuccess)
            var found: AnyObject?
            #expect(
                SecItemCopyMatching([kSecValueRef: certificate, kSecReturnAttributes: true] as [CFString: Any] as CFDictionary, &found)
                    == errSecSuccess)
            let key: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate, kSecValueData: try Conformance.certificate("anna.key"),
                kSecAttrApplicationLabel: try #require((found as? [String: Any])?["pkhh"]),
            ]
            #expect(SecItemAdd(key as CFDictionary, nil) == errSecSuccess)
            var identity: AnyObject?
            #expect(
                SecItemCopyMatching([kSecClass: kSecClassIdentity, kSecReturnRef: true] as [CFString: Any] as CFDictionary, &identity)
                    == errSecSuccess)
            let named: [CFString: Any] = [kSecValueRef: try #require(identity)]
            #expect(SecItemDelete(named as CFDictionary) == errSecSuccess)
            let control = try #require(
                SecAccessControlCreateWithFlags(
                    kCFAllocatorDefault, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .applicationPassword, nil))
            let item = named.merging([kSecAttrAccessControl: control]) { $1 }
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecAuthFailed)
            let opened: [CFString: Any] = [kSecUseAuthenticationContext: context("of the server")]
            #expect(SecItemAdd(item.merging(opened) { $1 } as CFDictionary, nil) == errSecSuccess)
            let search: [CFString: Any] = [kSecClass: kSecClassIdentity, kSecReturnRef: true]
            #expect(SecItemCopyMatching(search as CFDictionary, &found) == errSecInteractionNotAllowed)
            #expect(SecItemCopyMatching(search.merging(opened) { $1 } as CFDictionary, &found) == errSecSuccess)
            #expect((found as? SecIdentity) == (identity as? SecIdentity))
            #expect(SecItemDelete(named as CFDictionary) == errSecSuccess)
        }

        @Test("An item can require both the passcode's key and the application password")
        func thePasscodeAndThePasswordAreBothRequired() throws {
            #expect(try add(with: nil) == errSecAuthFailed)
            #expect(try add(with: context("right")) == errSecSuccess)
            // The keychain is unlocked, so the passcode's key is available: it alone opens nothing.
            for wrong in ["wrong", "righ", "right "] { #expect(read("a", context(wrong)).status == errSecAuthFailed) }
            #expect(read("a").status == errSecInteractionNotAllowed)
            #expect(read("a", context("right")).text == "the value")
            // The password alone opens nothing either.
            try rooms.authentication.lock()
            #expect(read("a", context("right")).status == errSecInteractionNotAllowed)
            try rooms.unlock()
            #expect(read("a", context("right")).text == "the value")
        }

        @Test("Without the flag the passcode's key suffices, and a password is ignored")
        func withoutTheFlagThePasscodeKeySuffices() throws {
            #expect(try add("plain", value: "the value", flags: [], with: nil) == errSecSuccess)
            #expect(read("plain").text == "the value")
            #expect(read("plain", context("ignored")).text == "the value")
            try rooms.authentication.lock()
            #expect(read("plain").status == errSecInteractionNotAllowed)
            try rooms.unlock()
        }

        @Test("An application password does not replace the prompt") func applicationPasswordDoesNotReplaceThePrompt() throws {
            #expect(
                try add("guarded", value: "the value", flags: [.userPresence, .applicationPassword], with: context("right"))
                    == errSecSuccess)
            let user = try rooms.user([.passcode(Rooms.passcode), .passcode(Rooms.passcode), .cancel])
            defer { user.leave() }
            #expect(read("guarded", context("right")).text == "the value")
            #expect(read("guarded", context("wrong")).status == errSecAuthFailed)
            #expect(read("guarded", context("right")).status == errSecUserCanceled)
        }

        @Test("A call without the password prompts the user for it")
        func theUserTypesThePassword() throws {
            #expect(try add("typed", value: "the value", with: context("right")) == errSecSuccess)
            let user = try rooms.user([
                .passcode("wrong"), .passcode("right"), .cancel, .passcode("one"), .passcode("two"), .passcode(Rooms.passcode),
            ])
            defer { user.leave() }
            let tries = try rooms.authentication.status().device.attemptsLeft
            #expect(read("typed").text == "the value")
            #expect(read("typed").status == errSecUserCanceled)
            // Three wrong ones, one of which is the user's own passcode.
            #expect(read("typed").status == errSecAuthFailed)
            let requests = user.requests
            #expect(requests.map(\.operation) == Array(repeating: .applicationPassword, count: 6))
            #expect(requests.map(\.attempt) == [1, 2, 1, 1, 2, 3])
            #expect(requests.map(\.attemptsLeft) == [3, 2, 3, 3, 2, 1])
            #expect(requests.allSatisfy { $0.methods == .passcode && $0.caller.path != nil })
            #expect(try rooms.authentication.status().device.attemptsLeft == tries)
            // With prompts forbidden, and in a search that skips items that need one.
            let noUI = LAContext()
            noUI.interactionNotAllowed = true
            #expect(read("typed", noUI).status == errSecInteractionNotAllowed)
            let skipping = query("typed", nil).merging([
                kSecReturnData as String: true, kSecUseAuthenticationUI as String: kSecUseAuthenticationUISkip,
            ]) { $1 }
            #expect(SecItemCopyMatching(skipping as CFDictionary, nil) == errSecItemNotFound)
            #expect(user.requests.count == 6)
        }

        @Test("If the item also requires the user, their prompt comes first")
        func thePasscodeComesBeforeThePassword() throws {
            #expect(
                try add("both", value: "the value", flags: [.userPresence, .applicationPassword], with: context("right")) == errSecSuccess)
            let user = try rooms.user([.passcode(Rooms.passcode), .passcode("right"), .cancel])
            defer { user.leave() }
            #expect(read("both").text == "the value")
            #expect(user.requests.map(\.operation) == [.readItem, .applicationPassword])
            #expect(read("both").status == errSecUserCanceled)
        }

        @Test("A lock during the password prompt refuses the item")
        func lockDuringThePasswordPromptRefusesTheItem() throws {
            #expect(try add("locked", value: "the value", with: context("right")) == errSecSuccess)
            let authentication = rooms.authentication
            let user = try rooms.user([.act { try? authentication.lock() }])
            defer { user.leave() }
            #expect(read("locked").status == errSecInteractionNotAllowed)
            try rooms.unlock()
        }

        @Test("A new value is sealed with the new password") func newValueIsSealedWithTheNewPassword() throws {
            #expect(try add("changed", value: "old", flags: .applicationPassword, with: context("one")) == errSecSuccess)
            let change = [kSecValueData as String: Data("new".utf8)] as CFDictionary
            #expect(SecItemUpdate(query("changed", nil) as CFDictionary, change) == errSecAuthFailed)
            #expect(SecItemUpdate(query("changed", context("two")) as CFDictionary, change) == errSecSuccess)
            #expect(read("changed", context("one")).status == errSecAuthFailed)
            #expect(read("changed", context("two")).text == "new")
            // The item's attributes need no password, and change without one.
            #expect(
                SecItemUpdate(query("changed", nil) as CFDictionary, [kSecAttrLabel as String: "label"] as CFDictionary) == errSecSuccess)
            var result: AnyObject?
            let attributes = query("changed", nil).merging([kSecReturnAttributes as String: true]) { $1 }
            #expect(SecItemCopyMatching(attributes as CFDictionary, &result) == errSecSuccess)
            #expect((result as? [String: Any])?[kSecAttrLabel as String] as? String == "label")
            #expect(read("changed", context("two")).text == "new")
        }

        /// Opened without the rooms, with the files, the device secret, the passcode and the specification: without the flag they yield the
        /// value; with it they yield a layer that only the password opens, so the password is not just a check.
        @Test("On disk, an application password is a layer of encryption of its own", .proves("C-149", "C-150", "C-151"))
        func applicationPasswordAddsALayerOnDisk() throws {
            let value = "the same value"
            #expect(try add("with", value: value, flags: .applicationPassword, with: context("one")) == errSecSuccess)
            let with = try #require(try onDisk().last)
            #expect(try add("without", value: value, flags: [], with: nil) == errSecSuccess)
            let without = try #require(try onDisk().last)
            #expect(with.id != without.id)
            let bag = try rooms.keybag()
            let keys = try rooms.state.keys(of: bag, passcodeKey: rooms.state.passcodeKey(Rooms.passcode, of: bag).key)

            // Passcode, key, item: nothing more, and nothing without the passcode.
            #expect(try without.value(try without.read.itemKey(with: keys)).starts(with: [1] + Array(value.utf8)))
            let wrong = try rooms.state.passcodeKey("not this one", of: bag).key
            #expect(throws: (any Error).self) { try rooms.state.keys(of: bag, passcodeKey: wrong) }

            // Everything that the passcode yields does not open the value; neither does another password.
            let inner = try with.read.itemKey(with: keys)
            #expect(inner.count > 32)
            #expect(throws: (any Error).self) { try with.value(Array(inner.suffix(32))) }
            #expect(throws: (any Error).self) { try with.read.itemKey(with: keys, password: "two") }
            #expect(try with.value(try with.read.itemKey(with: keys, password: "one")).starts(with: [1] + Array(value.utf8)))
        }

        private struct OnDisk {
            let id: Int64
            let read: RowByTheBook
            let secret: [UInt8]

            /// Returns the contents of the secret half under an item key, padding included.
            func value(_ itemKey: [UInt8]) throws -> [UInt8] { try read.value(secret, itemKey: itemKey) }
        }

        /// Returns all rows of the database, read beside keychaind.
        private func onDisk() throws -> [OnDisk] {
            let folder = try PrivateFolder(path: "\(rooms.home)/keychain/\(geteuid())", creating: false)
            let all = RowSelection(kind: 1, protection: nil, lookup: nil, filter: [], usesDeviceIndex: false)
            return try KeychainDatabase(folder: folder).rows(of: all, after: 0, count: .max, bytesMax: .max).map { row in
                let read = try RowByTheBook(binding: row.halves.secretBinding, wrapped: row.halves.wrappedKey)
                return OnDisk(id: row.id, read: read, secret: row.halves.secret)
            }
        }

        @Test("A context keeps a credential until it is removed", .proves("C-133"))
        func credentialIsKeptUntilItIsRemoved() {
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
