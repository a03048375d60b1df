import Foundation
import Security
import TestSupport
import Testing

extension AppleNames {
    /// The traps of Specs/secitem.md, 13, each by its number.
    @Suite("Conformance: traps")
    struct TrapTests {
        private let calls = Calls()

        init() throws { try Conformance.prepare() }

        @Test("1: A read returns one item; updates and deletes affect all matches", .proves("C-007", "C-015", "C-017", "C-018"))
        func limits() {
            for account in ["a", "b"] { calls.add(account) }
            #expect(calls.find(calls.item(nil, [kSecReturnData: true])).result is Data)
            #expect(calls.update(calls.item(), [kSecAttrComment: "c"]) == errSecSuccess)
            #expect(
                (calls.find(calls.item(nil, [kSecAttrComment: "c", kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true])).result
                    as? [Data])?.count == 2)
            for limit in [kSecMatchLimitOne, kSecMatchLimitAll] {
                #expect(calls.update(calls.item(nil, [kSecMatchLimit: limit]), [kSecAttrComment: "d"]) == errSecParam)
            }
            #expect(calls.delete(calls.item(nil, [kSecMatchLimit: kSecMatchLimitOne])) == errSecParam)
            #expect(calls.delete(calls.item(nil, [kSecMatchLimit: 2])) == errSecParam)
            // Explicit, though a delete means it anyway: a documented deviation.
            #expect(calls.delete(calls.item(nil, [kSecMatchLimit: kSecMatchLimitAll])) == errSecSuccess)
            #expect(calls.find(calls.item()).status == errSecItemNotFound)
        }

        @Test("3: Accessibility, label and generic are not part of the primary key", .proves("C-010"))
        func uniqueness() {
            #expect(calls.add("a") == errSecSuccess)
            let others: [[CFString: Any]] = [
                [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock], [kSecAttrLabel: "other"], [kSecAttrGeneric: Data([1])],
                [kSecAttrCreator: 1],
            ]
            for other in others { #expect(calls.add("a", "v", with: other) == errSecDuplicateItem) }
            // A view and a token are part of it.
            #expect(calls.add("a", "v", with: [kSecAttrSyncViewHint: "view"]) == errSecSuccess)
            #expect(calls.add("a", "v", with: [kSecAttrTokenID: "token"]) == errSecSuccess)
            #expect(calls.add("a", "v", with: [kSecAttrTokenID: "token"]) == errSecDuplicateItem)
            #expect((calls.find(calls.item("a", [kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true])).result as? [Data])?.count == 3)
            #expect(
                (calls.find(calls.item("a", [kSecAttrTokenID: "", kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true])).result
                    as? [Data])?.count == 2)
        }

        @Test("4: A query without the synchronizable key matches only local items, in all four calls")
        func synchronizable() {
            #expect(calls.add("a", "here") == errSecSuccess)
            #expect(calls.add("a", "everywhere", with: [kSecAttrSynchronizable: true]) == errSecSuccess)
            #expect(calls.value("a") == "here")
            let any = calls.item(
                "a", [kSecAttrSynchronizable: kSecAttrSynchronizableAny, kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true])
            #expect((calls.find(any).result as? [Data])?.count == 2)
            #expect(calls.update(calls.item("a"), [kSecValueData: Data("changed".utf8)]) == errSecSuccess)
            #expect(
                calls.find(calls.item("a", [kSecAttrSynchronizable: true, kSecReturnData: true])).result as? Data == Data("everywhere".utf8)
            )
            #expect(calls.delete(calls.item("a")) == errSecSuccess)
            #expect(calls.find(calls.item("a", [kSecAttrSynchronizable: true])).status == errSecSuccess)
            #expect(calls.delete(calls.item("a", [kSecAttrSynchronizable: kSecAttrSynchronizableAny])) == errSecSuccess)
        }

        @Test("5: Accessibility together with an access control is refused")
        func accessibilityAndControl() throws {
            let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
            #expect(
                calls.add("a", "v", with: [kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked, kSecAttrAccessControl: control])
                    == errSecParam)
        }

        @Test("8, 9: The keychain sets the dates, and a modification date is always later")
        func dates() throws {
            let old = Date(timeIntervalSince1970: 0)
            #expect(calls.add("a", "v", with: [kSecAttrCreationDate: old, kSecAttrModificationDate: old]) == errSecSuccess)
            func dates() throws -> (Date, Date) {
                let found = try #require(calls.find(calls.item("a", [kSecReturnAttributes: true])).result as? [String: Any])
                return (try #require(found["cdat"] as? Date), try #require(found["mdat"] as? Date))
            }
            var (created, modified) = try dates()
            #expect(created > old && modified == created)
            for _ in 0..<5 {
                #expect(
                    calls.update(calls.item("a"), [kSecAttrModificationDate: old, kSecAttrCreationDate: old, kSecAttrComment: "c"])
                        == errSecSuccess)
                let next = try dates()
                #expect(next.0 == created && next.1 >= modified.addingTimeInterval(0.0009))
                (created, modified) = next
            }
        }

        @Test("11: Some match keys are accepted and ignored")
        func ignoredMatchKeys() {
            calls.add("a")
            let ignored: [CFString: Any] = [
                kSecMatchCaseInsensitive: true, kSecMatchSubjectContains: "x", kSecMatchSearchList: [] as [Any],
                "m_Whatever" as CFString: 1,
            ]
            #expect(calls.find(calls.item("A", ignored)).status == errSecItemNotFound)
            #expect(calls.find(calls.item("a", ignored)).status == errSecSuccess)
        }

        @Test("14: Unknown keys and classes are refused", .proves("C-011"))
        func unknownKeys() {
            calls.add("a")
            #expect(calls.find(calls.item("a", ["zzzz" as CFString: 1])).status == errSecNoSuchAttr)
            #expect(calls.find(calls.item("a", [kSecAttrServer: "s"])).status == errSecNoSuchAttr)
            #expect(calls.find(calls.item("a", ["nonsense" as CFString: 1])).status == errSecParam)
            #expect(calls.find(calls.item("a", ["x" as CFString: 1])).status == errSecParam)
            #expect(calls.find(calls.item("a", ["u_Whatever" as CFString: 1])).status == errSecParam)
            #expect(calls.find(calls.item("a", ["r_Whatever" as CFString: true])).status == errSecParam)
            #expect(calls.find(calls.item("a", [kSecReturnData: 1 as NSNumber, kSecMatchLimit: "x"])).status == errSecParam)
            #expect(calls.find([kSecClass: "apls", kSecAttrAccount: "a"]).status == errSecNoSuchClass)
            #expect(calls.find([kSecAttrAccount: "a"]).status == errSecParam)
            var many = calls.item("a")
            for index in 0..<130 { many["m_\(1000 + index)" as CFString] = 1 }
            #expect(calls.find(many).status == errSecParam)
        }

        @Test("15: The data protection flag is accepted and ignored")
        func dataProtection() {
            #expect(calls.add("a", "v", with: [kSecUseDataProtectionKeychain: true]) == errSecSuccess)
            #expect(calls.find(calls.item("a", [kSecUseDataProtectionKeychain: false])).status == errSecSuccess)
        }

        @Test("16: An update refuses the keys it does not support", .proves("C-017"))
        func updates() {
            calls.add("a")
            #expect(calls.update(calls.item("a"), [kSecClass: kSecClassGenericPassword]) == errSecNoSuchAttr)
            #expect(calls.update(calls.item("a"), [kSecReturnData: true]) == errSecNoSuchAttr)
            #expect(calls.update(calls.item("a"), [kSecMatchLimit: kSecMatchLimitOne]) == errSecNoSuchAttr)
            #expect(calls.update(calls.item("a"), [kSecValuePersistentRef: Data(count: 20)]) == errSecNoSuchAttr)
            #expect(calls.update(calls.item("a"), [kSecValueData: "text"]) == errSecParam)
            // A rename to another item's name is refused, and changes nothing.
            calls.add("b", "b")
            #expect(calls.update(calls.item("b"), [kSecAttrAccount: "a"]) == errSecDuplicateItem)
            #expect(calls.value("b") == "b")
            #expect(calls.update(calls.item("b"), [kSecAttrAccount: "c"]) == errSecSuccess)
            #expect(calls.value("c") == "b")
            // A query of a search can be reused: its return keys mean nothing here, as on macOS.
            let query = calls.item("c", [kSecReturnData: true, kSecReturnAttributes: true])
            #expect(calls.update(query, [kSecValueData: Data("d".utf8)]) == errSecSuccess)
            #expect(calls.value("c") == "d")
            #expect(calls.delete(query) == errSecSuccess)
            #expect(calls.find(query).status == errSecItemNotFound)
        }
    }
}
