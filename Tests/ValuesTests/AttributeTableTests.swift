import TestSupport
import Testing
import VaubanKeychainModel

/// The table of Specs/item-attributes.md and the one in the code are the same.
@Suite struct AttributeTableTests {
    @Test("The table of attributes matches Specs/item-attributes.md") func attributeTableMatchesTheSpecification() throws {
        let rows = try SpecDocument("item-attributes").table("attributes")
        var named = 0
        for row in rows {
            let code = try #require(row["Code"])
            for kind in ItemKind.allCases {
                guard row["Classes"]?.split(separator: " ").contains(Substring(kind.code)) == true else { continue }
                named += 1
                let name = try #require(AttributeName(rawValue: code))
                let rule = try #require(AttributeRule.rule(for: name, of: kind), "\(code) of \(kind.code)")
                #expect(rule.form.rawValue == row["Kind"], "\(code) of \(kind.code)")
                let part = ["always": AttributeRule.Part.always, "if set": .ifSet, "": .none][row["Key"] ?? "?"]
                #expect(rule.part == part, "\(code) of \(kind.code)")
                #expect(rule.isServerSet == (row["Set by"] == "keychain"), "\(code) of \(kind.code)")
            }
        }
        #expect(named == ItemKind.allCases.map { AttributeRule.rules(of: $0).count }.reduce(0, +))
        #expect(rows.allSatisfy { ($0["Constant"] ?? "").hasPrefix("kSecAttr") })
    }

    @Test("The item classes have Apple's codes") func theClassesHaveApplesCodes() {
        #expect(ItemKind.allCases.map(\.code) == ["genp", "inet", "cert", "keys"])
        #expect(ItemKind(code: "idnt") == .identity && ItemKind(code: "perm") == nil && ItemKind(code: "apls") == nil)
        #expect(ItemKind(nameable: 200) == nil && ItemKind(nameable: 5) == .identity && ItemKind(nameable: 6) == nil)
    }
}
