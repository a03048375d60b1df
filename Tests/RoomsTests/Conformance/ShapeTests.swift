import Foundation
import Security
import TestSupport
import Testing

extension AppleNames {
    /// The result of each combination of return keys (Specs/secitem.md, 6.1).
    @Suite("Conformance: results")
    struct ShapeTests {
        private let calls = Calls()

        init() throws { try Conformance.prepare() }

        private func keys(_ result: AnyObject?) -> Set<String> {
            Set(
                (result as? [String: Any])?.keys.filter { ["v_Data", "v_PersistentRef", "v_Ref", "class", "acct", "pdmn"].contains($0) }
                    ?? [])
        }

        @Test("Every combination of return keys has its shape of result", .proves("C-013", "C-023"))
        func everyCombinationHasItsShape() throws {
            #expect(calls.add("a") == errSecSuccess)
            func shape(_ returns: [CFString]) -> AnyObject? {
                let found = calls.find(calls.item("a", Dictionary(uniqueKeysWithValues: returns.map { ($0, true as Any) })))
                // An empty result proves nothing if the call failed.
                #expect(found.status == errSecSuccess)
                return found.result
            }
            let (data, attributes, persistent, ref) = (kSecReturnData, kSecReturnAttributes, kSecReturnPersistentRef, kSecReturnRef)
            #expect(shape([]) == nil)
            #expect(shape([data]) as? Data == Data("value".utf8))
            #expect((shape([persistent]) as? Data)?.count == 20)
            // A password has no reference object.
            #expect(shape([ref]) == nil)
            #expect(keys(shape([attributes])) == ["acct", "pdmn"])
            #expect(keys(shape([data, persistent])) == ["v_Data", "v_PersistentRef"])
            #expect(keys(shape([attributes, data])) == ["acct", "pdmn", "v_Data"])
            #expect(keys(shape([attributes, persistent])) == ["acct", "pdmn", "v_PersistentRef"])
            #expect(keys(shape([attributes, data, persistent])) == ["acct", "pdmn", "v_Data", "v_PersistentRef"])
            #expect(keys(shape([attributes, ref])) == ["acct", "pdmn", "class"])
            #expect(keys(shape([data, ref])) == ["class", "v_Data"])
        }

        @Test("Objects of Foundation in a dictionary mean the same as the corresponding Swift values")
        func objectsOfFoundation() throws {
            let item = NSMutableDictionary(dictionary: calls.item())
            item[NSMutableString(string: kSecAttrAccount as String)] = NSMutableString(string: "mutable")
            item[kSecValueData] = NSMutableData(data: Data("value".utf8))
            item[kSecAttrCreator] = NSDecimalNumber(value: 7)
            #expect(SecItemAdd(item, nil) == errSecSuccess)
            for yes in [true, NSNumber(value: 1), NSNumber(value: 1.0), kCFBooleanTrue as NSNumber] as [Any] {
                let found = calls.find(calls.item("mutable", [kSecReturnData: yes, kSecAttrCreator: 7]))
                #expect(found.result as? Data == Data("value".utf8))
            }
            for other in [NSNumber(value: 2), NSNull(), "1", Date()] as [Any] {
                #expect(calls.find(calls.item("mutable", [kSecReturnData: other])).status == errSecParam)
            }
            #expect(calls.find(calls.item("mutable", [kSecReturnData: false])).result == nil)
            let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [], nil)
            #expect(calls.add("controlled", with: [kSecAttrAccessControl: try #require(control)]) == errSecSuccess)
            #expect(SecItemCopyMatching([1: kSecClassGenericPassword] as NSDictionary, nil) == errSecParam)
        }

        @Test("The match limit decides whether an array is returned", .proves("C-015", "C-016"))
        func matchLimitDecidesWhetherAnArrayIsReturned() {
            for account in ["a", "b", "c"] { calls.add(account) }
            func found(_ limit: Any?) -> AnyObject? {
                var query = calls.item(nil, [kSecReturnData: true])
                if let limit { query[kSecMatchLimit] = limit }
                let found = calls.find(query)
                #expect(found.status == errSecSuccess)
                return found.result
            }
            #expect(found(nil) is Data)
            #expect(found(kSecMatchLimitOne) is Data)
            #expect(found(1) is Data)
            #expect((found(2) as? [Data])?.count == 2)
            #expect((found(kSecMatchLimitAll) as? [Data])?.count == 3)
            #expect((found(100) as? [Data])?.count == 3)
            #expect((found(Int.max) as? [Data])?.count == 3)
            // One item is a list of one if a list was requested.
            #expect((calls.find(calls.item("a", [kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll])).result as? [Data])?.count == 1)
        }

        @Test("An item without a value has empty data, and no value among its attributes")
        func anItemWithoutAValueHasEmptyDataAndNoKey() throws {
            #expect(calls.add("none", nil) == errSecSuccess)
            #expect(calls.find(calls.item("none", [kSecReturnData: true])).result as? Data == Data())
            #expect(keys(calls.find(calls.item("none", [kSecReturnData: true, kSecReturnAttributes: true])).result) == ["acct", "pdmn"])
            #expect(calls.add("empty", "") == errSecSuccess)
            #expect(
                keys(calls.find(calls.item("empty", [kSecReturnData: true, kSecReturnAttributes: true])).result) == [
                    "acct", "pdmn", "v_Data",
                ])
        }

        @Test("Adding an item returns what finding it returns") func addingReturnsWhatFindingReturns() throws {
            var result: CFTypeRef?
            let item = calls.item("a", [kSecValueData: Data("v".utf8), kSecReturnAttributes: true, kSecReturnPersistentRef: true])
            #expect(SecItemAdd(item as CFDictionary, &result) == errSecSuccess)
            let added = try #require(result as? [String: Any])
            let found = try #require(
                calls.find(calls.item("a", [kSecReturnAttributes: true, kSecReturnPersistentRef: true])).result as? [String: Any])
            #expect(NSDictionary(dictionary: added).isEqual(NSDictionary(dictionary: found)))
        }

        @Test("Unset attributes of the primary key are returned as empty, zero or the reference date")
        func unsetAttributesOfThePrimaryKeyAreReturned() throws {
            func returned(_ item: [CFString: Any], _ more: [CFString: Any]) throws -> [String: Any] {
                let query = item.merging([kSecReturnAttributes: true]) { $1 }
                var result: CFTypeRef?
                #expect(SecItemAdd(query.merging(more) { $1 } as CFDictionary, &result) == errSecSuccess)
                let added = try #require(result as? [String: Any])
                let found = try #require(calls.find(query).result as? [String: Any])
                #expect(NSDictionary(dictionary: added).isEqual(NSDictionary(dictionary: found)))
                return found
            }
            let value: [CFString: Any] = [kSecValueData: Data("v".utf8)]
            let site = try returned([kSecClass: kSecClassInternetPassword, kSecAttrServer: calls.service, kSecAttrAccount: "a"], value)
            for name in ["path", "sdmn", "atyp"] { #expect(site[name] as? String == "", "\(name)") }
            for name in ["port", "ptcl"] { #expect(site[name] as? Int == 0, "\(name)") }
            // Other unset attributes are not returned.
            for name in ["labl", "desc", "crtr", "vwht", "tkid", "svce"] { #expect(site[name] == nil, "\(name)") }
            #expect(try returned(calls.item(), value)["acct"] as? String == "")

            let label = Data(calls.service.utf8)
            let item: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationLabel: label]
            let key = try returned(item, value)
            #expect(key["atag"] as? String == "" && key["klbl"] as? Data == label)
            for name in ["kcls", "crtr", "type", "bsiz", "esiz"] { #expect(key[name] as? Int == 0, "\(name)") }
            for name in ["sdat", "edat"] { #expect(key[name] as? Date == Date(timeIntervalSinceReferenceDate: 0), "\(name)") }
            // They find the item, and an item added with them is the same.
            let unset: [CFString: Any] = [
                kSecAttrApplicationTag: "", kSecAttrKeyClass: 0, "sdat" as CFString: Date(timeIntervalSinceReferenceDate: 0),
            ]
            let again = item.merging(unset) { $1 }
            #expect(calls.find(again.merging([kSecReturnData: true]) { $1 }).result as? Data == Data("v".utf8))
            #expect(SecItemAdd(again as CFDictionary, nil) == errSecDuplicateItem)
            #expect(calls.delete(item) == errSecSuccess)
        }

        @Test("The returned attributes find the same item") func returnedAttributesFindTheSameItem() throws {
            calls.add("a", "v", with: [kSecAttrLabel: "label", kSecAttrComment: Data([1, 2]), kSecAttrCreator: 7])
            calls.add("b")
            let found = try #require(calls.find(calls.item("a", [kSecReturnAttributes: true])).result as? [CFString: Any])
            // Accessibility and access control together are refused, except for the pair that a plain item's attributes contain.
            var query = found
            query[kSecClass] = kSecClassGenericPassword
            query[kSecReturnData] = true
            #expect(calls.find(query).result as? Data == Data("v".utf8))
        }

        @Test("Attributes are returned in their types, and compared by their bytes")
        func valuesComeBackInTheirTypeAndCompareByTheirBytes() throws {
            #expect(calls.add("text") == errSecSuccess)
            #expect(
                SecItemAdd(calls.item(nil, [kSecAttrAccount: Data("text".utf8), kSecValueData: Data()]) as CFDictionary, nil)
                    == errSecDuplicateItem)
            #expect(
                SecItemAdd(calls.item(nil, [kSecAttrAccount: Data("data".utf8), kSecValueData: Data()]) as CFDictionary, nil)
                    == errSecSuccess)
            #expect(calls.find(calls.item(nil, [kSecAttrAccount: "data"])).status == errSecSuccess)
            let found = calls.find(calls.item("data", [kSecReturnAttributes: true])).result as? [String: Any]
            #expect(found?["acct"] is Data)
            // Neither case nor Unicode composition is normalized.
            #expect(calls.find(calls.item("TEXT")).status == errSecItemNotFound)
            // A Boolean is a number, and text for a numeric attribute becomes a number.
            #expect(calls.add("n", "v", with: [kSecAttrIsInvisible: true, kSecAttrCreator: "17"]) == errSecSuccess)
            #expect(calls.find(calls.item("n", [kSecAttrIsInvisible: 1, kSecAttrCreator: 17])).status == errSecSuccess)
        }
    }
}
