import Foundation
import Testing

/// Manual/attacks.md and the scripts that try the attacks name the same ones, and agree on which succeed.
@Suite struct AttackListTests {
    /// The word `succeeds` stands with each attack that does, in both.
    private static func attacks(in lines: [String], _ pattern: Regex<(Substring, name: Substring)>) -> [String: Bool] {
        var found: [String: Bool] = [:]
        for line in lines {
            guard let name = line.firstMatch(of: pattern)?.output.name else { continue }
            found[String(name), default: false] = found[String(name), default: false] || line.contains("succeeds")
        }
        return found
    }

    @Test func theManualNamesWhatIsTried() throws {
        let manual = try SourceTree.text(of: SourceTree.root.appendingPathComponent("Manual/attacks.md"))
        let told = Self.attacks(in: manual.components(separatedBy: "\n"), #/^\| (?<name>[AU][0-9]{2,3}) \|/#)
        let scripts = SourceTree.files(in: SourceTree.root.appendingPathComponent("Tests/Scripts"), withExtension: ["sh"])
            .filter { $0.lastPathComponent.hasPrefix("attacks-") }
        let lines = try scripts.flatMap { try SourceTree.text(of: $0).components(separatedBy: "\n") }
        let tried = Self.attacks(in: lines, #/check ['"](?<name>[AU][0-9]{2,3}) /#)
        #expect(told.count > 80)
        #expect(told == tried)
    }
}
