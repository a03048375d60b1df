import Foundation
import Security
import TestSupport
import Testing

extension AppleNames {
    /// Persistent references (Specs/secitem.md, 6.5).
    @Suite("Conformance: persistent references")
    struct ReferenceTests {
        private let calls = Calls()

        init() throws { try Conformance.prepare() }

        private func reference(_ query: [CFString: Any]) -> Data? {
            calls.find(query.merging([kSecReturnPersistentRef: true]) { $1 }).result as? Data
        }

        @Test("17: A persistent reference finds its item after a rename")
        func twentyBytes() throws {
            calls.add("a", "v")
            let ref = try #require(reference(calls.item("a")))
            #expect(ref.count == 20 && ref.prefix(4) == Data("genp".utf8))
            // The class may be omitted.
            #expect(calls.find([kSecValuePersistentRef: ref, kSecReturnData: true]).result as? Data == Data("v".utf8))
            #expect(calls.update(calls.item("a"), [kSecAttrAccount: "renamed", kSecValueData: Data("w".utf8)]) == errSecSuccess)
            #expect(calls.find([kSecValuePersistentRef: ref, kSecReturnData: true]).result as? Data == Data("w".utf8))
            #expect(reference(calls.item("renamed")) == ref)
        }

        @Test("A search by reference refuses other filters") func otherFiltersAreRefusedInASearch() throws {
            calls.add("a")
            let ref = try #require(reference(calls.item("a")))
            #expect(calls.find([kSecValuePersistentRef: ref, kSecAttrAccount: "a"]).status == errSecParam)
            #expect(
                calls.find([
                    kSecClass: kSecClassGenericPassword, kSecValuePersistentRef: ref, kSecMatchLimit: kSecMatchLimitAll,
                    kSecReturnData: true,
                ]).result is [Data])
            #expect(calls.find([kSecClass: kSecClassInternetPassword, kSecValuePersistentRef: ref]).status == errSecNoSuchClass)
            // For updates and deletes, both must match.
            #expect(calls.delete([kSecValuePersistentRef: ref, kSecAttrAccount: "b"]) == errSecItemNotFound)
            #expect(calls.update([kSecValuePersistentRef: ref, kSecAttrAccount: "a"], [kSecAttrComment: "c"]) == errSecSuccess)
            #expect(calls.delete([kSecValuePersistentRef: ref]) == errSecSuccess)
            #expect(calls.find([kSecValuePersistentRef: ref]).status == errSecItemNotFound)
        }

        @Test("A reference finds a synchronizable item") func referenceFindsASynchronizableItem() throws {
            calls.add("a", "v", with: [kSecAttrSynchronizable: true])
            let ref = try #require(reference(calls.item("a", [kSecAttrSynchronizable: true])))
            #expect(calls.find([kSecValuePersistentRef: ref, kSecReturnData: true]).result as? Data == Data("v".utf8))
        }

        @Test("A search by object finds items that are not synchronizable")
        func referenceFindsUnsynchronizedItems() throws {
            let tag = Data(UUID().uuidString.utf8)
            let made: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
                kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag, kSecAttrSynchronizable: true]
                    as [CFString: Any],
            ]
            #expect(SecKeyCreateRandomKey(made as CFDictionary, nil) != nil)
            let search: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecAttrSynchronizable: kSecAttrSynchronizableAny,
                kSecReturnRef: true,
            ]
            let key = try #require(calls.find(search).result)
            #expect(calls.find([kSecValueRef: key]).status == errSecItemNotFound)
            #expect(calls.find([kSecValueRef: key, kSecAttrSynchronizable: true]).status == errSecSuccess)
            #expect(calls.delete([kSecValueRef: key]) == errSecItemNotFound)
            #expect(calls.delete([kSecValueRef: key, kSecAttrSynchronizable: kSecAttrSynchronizableAny]) == errSecSuccess)
        }

        @Test(
            "Invalid references are refused",
            arguments: [
                Data(), Data(count: 12), Data(count: 20), Data("genp".utf8) + Data(count: 15), Data("tkpr".utf8) + Data(count: 30),
            ])
        func invalidReferencesAreRefused(_ bytes: Data) {
            #expect(calls.find([kSecValuePersistentRef: bytes]).status == errSecParam)
        }

        @Test("A reference in an add is ignored") func aReferenceInAnAddIsIgnored() throws {
            calls.add("a")
            let ref = try #require(reference(calls.item("a")))
            #expect(calls.add("b", "v", with: [kSecValuePersistentRef: ref]) == errSecSuccess)
            #expect(reference(calls.item("b")) != ref)
        }

        @Test("An item that is added again has a new reference") func itemAddedAgainHasANewReference() throws {
            calls.add("a")
            let ref = try #require(reference(calls.item("a")))
            #expect(calls.delete(calls.item("a")) == errSecSuccess)
            calls.add("a")
            #expect(reference(calls.item("a")) != ref)
        }
    }
}
