import Foundation
import Testing
import VaubanPasswordRules

/// The language of Apple's password rules.
@Suite struct PasswordRulesTests {
    private struct Vector: Decodable {
        let rules: String
        var required: [String]?
        let allowed: String
        var maxConsecutive: Int?
        var minlength: Int?
        var maxlength: Int?
        let faults: Int

        enum CodingKeys: String, CodingKey {
            case rules, required, allowed, minlength, maxlength, faults
            case maxConsecutive = "max-consecutive"
        }
    }

    @Test("Rules are parsed as Apple's reference parses them")
    func rulesAreReadAsByReference() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let vectors = try JSONDecoder().decode([Vector].self, from: Data(contentsOf: root.appending(path: "Vectors/password-rules.json")))
        #expect(vectors.count > 150)
        for vector in vectors {
            let rules = PasswordRules(vector.rules)
            #expect(rules.required.map(text) == vector.required ?? [], "\(vector.rules)")
            #expect(text(rules.allowed) == vector.allowed, "\(vector.rules)")
            #expect(rules.maxConsecutive == vector.maxConsecutive, "\(vector.rules)")
            #expect(rules.lengthMin == vector.minlength && rules.lengthMax == vector.maxlength, "\(vector.rules)")
            #expect(rules.faults.count == vector.faults, "\(vector.rules): \(rules.faults)")
        }
    }

    @Test(
        "An error in the rules has its position and the way out",
        arguments: [
            ("minlength: 8; requird: lower", "At character 15: no rule is called “requird”; the rules are required, allowed"),
            ("required: lower, uper", "At character 18: no class of characters is called “uper”; the classes are upper, lower"),
            ("required lower", "At character 9: “required” needs a colon and what it demands, such as required: lower, digit"),
            ("required: lower upper", "At character 17: a comma must come before another class, and a semicolon"),
            ("minlength: eight", "At character 12: this rule takes a number"),
            ("allowed: [é-_", "At character 12: a hyphen must be the first character in brackets"),
            ("allowed: [_", "At character 10: the brackets need a ] at their end"),
            ("allowed: [a]b]", "At character 12: a ] must be the last character in brackets: end them with ]]"),
            ("😀", "At character 1: a rule begins with its name"),
        ])
    func faultHasPositionAndWayOut(rules: String, words: String) {
        #expect(PasswordRules(rules).faults.first?.description.hasPrefix(words) == true, "\(PasswordRules(rules).faults)")
    }

    private func text(_ characters: PasswordCharacters) -> String { String(decoding: characters.characters, as: UTF8.self) }
}
