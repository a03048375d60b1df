// Apple's four functions from end to end: this process, keychaind, enclaved, the disk.

import Foundation
import Glibc
import Security
import TestSupport
import Testing

extension AppleNames {
    @Suite("SecItem")
    struct SecItemTests {
        let service = "service-\(UUID().uuidString)"

        init() throws { _ = try SharedRooms.use() }

        private func add(_ account: String, _ value: String, with more: [String: Any] = [:]) -> OSStatus {
            let item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service, kSecAttrAccount as String: account,
                kSecValueData as String: Data(value.utf8),
            ]
            return SecItemAdd(item.merging(more) { $1 } as CFDictionary, nil)
        }

        private func query(_ more: [String: Any] = [:]) -> CFDictionary {
            [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service].merging(more) { $1 } as CFDictionary
        }

        @Test("An added item can be read", .proves("C-001", "C-002", "C-008", "C-009", "C-013", "C-015", "C-023"))
        func addAndReadBack() throws {
            #expect(add("alice", "pässwörd") == errSecSuccess)
            var result: AnyObject?
            let status = SecItemCopyMatching(
                query([kSecAttrAccount as String: "alice", kSecReturnData as String: true, kSecMatchLimit as String: kSecMatchLimitOne]),
                &result)
            #expect(status == errSecSuccess)
            let data = try #require(result as? Data)
            #expect(String(data: data, encoding: .utf8) == "pässwörd")
        }

        @Test("A suggested password is stored and read back", .proves("C-221"))
        func suggestedPasswordIsStored() throws {
            let password = try #require(SecCreateSharedWebCredentialPassword()) as String
            #expect(password.wholeMatch(of: /[A-HJ-NP-Za-hkm-y3-9]{3}(-[A-HJ-NP-Za-hkm-y3-9]{3}){3}/) != nil, "\(password)")
            #expect(add("suggested", password) == errSecSuccess)
            var result: AnyObject?
            #expect(SecItemCopyMatching(query([kSecAttrAccount as String: "suggested", kSecReturnData as String: true]), &result) == 0)
            #expect(try String(decoding: #require(result as? Data), as: UTF8.self) == password)
        }

        @Test("An item with the same identifying attributes is a duplicate", .proves("C-010"))
        func sameIdentifyingAttributesAreADuplicate() {
            #expect(add("bob", "one") == errSecSuccess)
            #expect(add("bob", "two") == errSecDuplicateItem)
            #expect(
                add(
                    "bob", "two",
                    with: [kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlock, kSecAttrLabel as String: "other"])
                    == errSecDuplicateItem)
            #expect(add("bob ", "two") == errSecSuccess)
        }

        @Test("Without return keys only the existence of an item is reported", .proves("C-014", "C-021"))
        func withoutReturnFlagsOnlyExistenceIsReported() {
            #expect(SecItemCopyMatching(query(), nil) == errSecItemNotFound)
            #expect(add("carol", "x") == errSecSuccess)
            var result: AnyObject?
            #expect(SecItemCopyMatching(query(), &result) == errSecSuccess)
            #expect(result == nil)
        }

        @Test("A search by any attribute finds many items", .proves("C-003", "C-012", "C-016"))
        func searchesByAnyAttributeAndFindsMany() throws {
            for number in 1...5 {
                #expect(
                    add(
                        "many-\(number)", "\(number)",
                        with: [kSecAttrLabel as String: number.isMultiple(of: 2) ? "even" : "odd", kSecAttrComment as String: "c"])
                        == errSecSuccess)
            }
            var result: AnyObject?
            #expect(
                SecItemCopyMatching(query([kSecMatchLimit as String: kSecMatchLimitAll, kSecReturnAttributes as String: true]), &result)
                    == errSecSuccess)
            let all = try #require(result as? [[String: Any]])
            #expect(Set(all.compactMap { $0[kSecAttrAccount as String] as? String }) == Set((1...5).map { "many-\($0)" }))
            #expect(
                SecItemCopyMatching(
                    query([kSecAttrLabel as String: "odd", kSecMatchLimit as String: kSecMatchLimitAll, kSecReturnData as String: true]),
                    &result) == errSecSuccess)
            #expect(Set((result as? [Data] ?? []).map { String(decoding: $0, as: UTF8.self) }) == ["1", "3", "5"])
            // An attribute without its own index is searchable too.
            #expect(
                SecItemCopyMatching(
                    query([kSecAttrComment as String: "c", kSecMatchLimit as String: 2, kSecReturnData as String: true]), &result)
                    == errSecSuccess)
            #expect((result as? [Data])?.count == 2)
        }

        @Test("An update changes the value and attributes", .proves("C-017", "C-022"))
        func updateChangesValueAndAttributes() throws {
            #expect(add("dora", "stale") == errSecSuccess)
            let fresh: [String: Any] = [kSecValueData as String: Data("fresh".utf8), kSecAttrComment as String: "after"]
            #expect(SecItemUpdate(query([kSecAttrAccount as String: "dora"]), fresh as CFDictionary) == errSecSuccess)
            var result: AnyObject?
            #expect(
                SecItemCopyMatching(
                    query([kSecAttrAccount as String: "dora", kSecReturnData as String: true, kSecReturnAttributes as String: true]),
                    &result) == errSecSuccess)
            let found = try #require(result as? [String: Any])
            #expect(found[kSecValueData as String] as? Data == Data("fresh".utf8))
            #expect(found[kSecAttrComment as String] as? String == "after")
            let created = try #require(found[kSecAttrCreationDate as String] as? Date)
            let modified = try #require(found[kSecAttrModificationDate as String] as? Date)
            #expect(modified > created)
            #expect(SecItemUpdate(query([kSecAttrAccount as String: "nobody"]), fresh as CFDictionary) == errSecItemNotFound)
        }

        @Test("A delete removes all matching items", .proves("C-018", "C-020"))
        func deleteRemovesAllMatches() {
            #expect(add("e1", "1") == errSecSuccess)
            #expect(add("e2", "2") == errSecSuccess)
            #expect(SecItemDelete(query()) == errSecSuccess)
            #expect(SecItemDelete(query()) == errSecItemNotFound)
            #expect(add("e1", "again") == errSecSuccess)
        }

        @Test("Every invalid call has its status", .proves("C-011"))
        func everyInvalidCallHasItsStatus() {
            #expect(SecItemCopyMatching([kSecAttrService: service] as CFDictionary, nil) == errSecParam)
            #expect(SecItemCopyMatching([kSecClass: "nope"] as CFDictionary, nil) == errSecNoSuchClass)
            #expect(SecItemCopyMatching(query(["zzzz": 1]), nil) == errSecNoSuchAttr)
            #expect(SecItemCopyMatching(query(["something": 1]), nil) == errSecParam)
            // In user mode groups are labels; the keychain's own groups are still off limits.
            #expect(SecItemCopyMatching(query([kSecAttrAccessGroup as String: "another.group"]), nil) == errSecItemNotFound)
            #expect(SecItemCopyMatching(query([kSecAttrAccessGroup as String: "vauban.permissions"]), nil) == errSecMissingEntitlement)
            #expect(SecItemAdd(query([kSecValueData as String: "text"]), nil) == errSecParam)
            #expect(SecItemAdd(query([kSecMatchLimit as String: kSecMatchLimitOne]), nil) == errSecParam)
            let never = Date(timeIntervalSinceReferenceDate: .infinity)
            #expect(SecItemCopyMatching(query([kSecAttrModificationDate as String: never]), nil) == errSecParam)
            #expect(SecItemDelete(query([kSecMatchLimit as String: kSecMatchLimitOne])) == errSecParam)
            #expect(SecItemUpdate(query(), [kSecClass: kSecClassGenericPassword] as CFDictionary) == errSecNoSuchAttr)
            #expect((SecCopyErrorMessageString(errSecNoSuchAttr, nil) as String?)?.isEmpty == false)
        }

        @Test("Internet passwords are unique by server, port and path") func internetPasswordsAreUniqueByServerPortAndPath() throws {
            func item(_ port: Int, _ path: String) -> CFDictionary {
                [
                    kSecClass as String: kSecClassInternetPassword, kSecAttrServer as String: service, kSecAttrAccount as String: "me",
                    kSecAttrProtocol as String: kSecAttrProtocolHTTPS, kSecAttrPort as String: port, kSecAttrPath as String: path,
                    kSecValueData as String: Data("\(port)\(path)".utf8),
                ] as [String: Any] as CFDictionary
            }
            #expect(SecItemAdd(item(443, "/"), nil) == errSecSuccess)
            #expect(SecItemAdd(item(8443, "/"), nil) == errSecSuccess)
            #expect(SecItemAdd(item(443, "/admin"), nil) == errSecSuccess)
            #expect(SecItemAdd(item(443, "/"), nil) == errSecDuplicateItem)
            var result: AnyObject?
            let search: [String: Any] = [
                kSecClass as String: kSecClassInternetPassword, kSecAttrServer as String: service, kSecAttrPort as String: 8443,
                kSecReturnData as String: true,
            ]
            #expect(SecItemCopyMatching(search as CFDictionary, &result) == errSecSuccess)
            #expect(result as? Data == Data("8443/".utf8))
        }

        @Test("Results have Apple's shapes") func resultsHaveApplesShapes() throws {
            #expect(SecItemAdd(query([kSecAttrAccount as String: "empty"]), nil) == errSecSuccess)
            var result: AnyObject?
            #expect(SecItemCopyMatching(query([kSecReturnData as String: true]), &result) == errSecSuccess)
            #expect(result as? Data == Data())
            #expect(
                SecItemCopyMatching(query([kSecReturnData as String: true, kSecReturnAttributes as String: true]), &result) == errSecSuccess
            )
            let attributes = try #require(result as? [String: Any])
            #expect(attributes[kSecValueData as String] == nil)
            #expect(attributes[kSecAttrAccessible as String] as? String == kSecAttrAccessibleWhenUnlocked as String)
            #expect(attributes[kSecAttrAccessControl as String] is SecAccessControl)
            // The result of a search can be a query, though it contains an accessibility and an access control.
            var again = attributes
            again[kSecClass as String] = kSecClassGenericPassword
            #expect(SecItemCopyMatching(again as CFDictionary, nil) == errSecSuccess)
            var added: AnyObject?
            #expect(SecItemAdd(query([kSecAttrAccount as String: "r", kSecReturnAttributes as String: true]), &added) == errSecSuccess)
            #expect((added as? [String: Any])?[kSecAttrAccount as String] as? String == "r")
        }

        @Test("Text and data of the same bytes are the same account") func textAndDataOfTheSameBytesAreTheSameAccount() {
            #expect(add("twin", "1") == errSecSuccess)
            let twin: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
                kSecAttrAccount as String: Data("twin".utf8),
            ]
            #expect(SecItemAdd(twin as CFDictionary, nil) == errSecDuplicateItem)
        }
    }
}

/// Suites that use `VAUBAN_HOME`, one after the other.
@Suite("Apple's names", .serialized)
struct AppleNames {}
