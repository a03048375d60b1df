import Foundation
import Security
import TestSupport
import Testing

extension AppleNames {
    /// Items with an access control in searches without prompts (Specs/secitem.md, 6.6).
    @Suite("Conformance: protected items")
    struct ProtectedItemTests {
        private let calls = Calls()

        init() throws {
            try Conformance.prepare()
            let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
            #expect(calls.add("plain", "plain") == errSecSuccess)
            #expect(calls.add("guarded", "guarded", with: [kSecAttrAccessControl: control]) == errSecSuccess)
        }

        private func all(_ more: [CFString: Any]) -> (status: OSStatus, values: [String]) {
            let found = calls.find(calls.item(nil, [kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true]).merging(more) { $1 })
            return (found.status, (found.result as? [Data] ?? []).map { String(decoding: $0, as: UTF8.self) })
        }

        /// One protected item in a broad search makes the whole search need a prompt; a search that skips such items does not.
        @Test("One protected item makes the whole search need a prompt, unless such items are skipped", .proves("C-107", "C-108"))
        func oneProtectedItemDecidesForTheWholeSearch() {
            #expect(all([kSecUseAuthenticationUI: kSecUseAuthenticationUIFail]).status == errSecInteractionNotAllowed)
            #expect(all([kSecUseNoAuthenticationUI: true]).status == errSecInteractionNotAllowed)
            #expect(all([kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]) == (errSecSuccess, ["plain"]))
            // The narrow search needs no prompt.
            #expect(calls.value("plain") == "plain")
            // That it exists can be known without a prompt; its attributes cannot.
            for returns in [[:], [kSecReturnAttributes: true], [kSecReturnPersistentRef: true]] as [[CFString: Any]] {
                let query = calls.item("guarded", [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail]).merging(returns) { $1 }
                #expect(calls.find(query).status == errSecInteractionNotAllowed)
            }
            #expect(calls.find(calls.item("guarded", [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip])).status == errSecItemNotFound)
            #expect(calls.find(calls.item("nowhere", [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail])).status == errSecItemNotFound)
        }

        @Test("Changing a protected item prompts like reading it", .proves("C-091"))
        func changingAProtectedItemPromptsLikeReadingIt() {
            let quiet = calls.item("guarded", [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail])
            #expect(calls.update(quiet, [kSecValueData: Data("changed".utf8)]) == errSecInteractionNotAllowed)
            #expect(calls.update(quiet, [kSecAttrComment: "changed"]) == errSecInteractionNotAllowed)
            // All or none: the plain one does not change either.
            let both = calls.item(nil, [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail])
            #expect(calls.update(both, [kSecAttrComment: "changed"]) == errSecInteractionNotAllowed)
            #expect(calls.find(calls.item("plain", [kSecAttrComment: "changed"])).status == errSecItemNotFound)
            // Adding it again is a duplicate, without a prompt; deleting it needs none either.
            #expect(calls.add("guarded", "other") == errSecDuplicateItem)
            #expect(
                calls.update(calls.item("plain", [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]), [kSecAttrComment: "c"])
                    == errSecParam)
            #expect(calls.delete(calls.item("guarded")) == errSecSuccess)
        }

        @Test("An item with an access control cannot be synchronizable") func protectedItemIsNotSynchronizable() throws {
            let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
            #expect(calls.add("both", "v", with: [kSecAttrAccessControl: control, kSecAttrSynchronizable: true]) == errSecParam)
            #expect(calls.add("synced", "v", with: [kSecAttrSynchronizable: true]) == errSecSuccess)
            #expect(calls.update(calls.item("synced", [kSecAttrSynchronizable: true]), [kSecAttrAccessControl: control]) == errSecParam)
        }
    }
}
