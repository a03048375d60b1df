import Foundation
import Testing

/// Manual/attacks.md and the scripts that try the attacks list the same ones, and agree on which succeed.
@Suite struct AttackListTests {
    /// Both mark each attack that succeeds with the word `succeeds`.
    private static func attacks(in lines: [String], _ pattern: Regex<(Substring, name: Substring)>) -> [String: Bool] {
        var found: [String: Bool] = [:]
        for line in lines {
            guard let name = line.firstMatch(of: pattern)?.output.name else { continue }
            found[String(name), default: false] = found[String(name), default: false] || line.contains("succeeds")
        }
        return found
    }

    private static func scriptLines() throws -> [String] {
        try SourceTree.files(in: SourceTree.root.appendingPathComponent("Tests/Scripts"), withExtension: ["sh"])
            .filter { $0.lastPathComponent.hasPrefix("attacks-") }
            .flatMap { try SourceTree.text(of: $0).components(separatedBy: "\n") }
    }

    @Test("Manual/attacks.md lists the attacks that the scripts try") func manualListsTheAttacksTried() throws {
        let manual = try SourceTree.text(of: SourceTree.root.appendingPathComponent("Manual/attacks.md"))
        let told = Self.attacks(in: manual.components(separatedBy: "\n"), #/^\| (?<name>[AU][0-9]{2,3}) \|/#)
        let tried = Self.attacks(in: try Self.scriptLines(), #/check ['"](?<name>[AU][0-9]{2,3}) /#)
        #expect(told.count > 80)
        #expect(told == tried)
    }

    @Test("An attack that a machine cannot try is reported by its name, never skipped silently")
    func untriedAttacksAreListed() throws {
        let lines = try Self.scriptLines()
        let tried = Self.attacks(in: lines, #/check ['"](?<name>[AU][0-9]{2,3}) /#)
        var named: Set<String> = []
        for line in lines {
            guard let words = line.firstMatch(of: #/^ *not_tried '?([AU][0-9 AU]+)'? /#)?.output.1 else { continue }
            named.formUnion(words.split(separator: " ").map(String.init))
        }
        #expect(named.count > 5)
        #expect(named.isSubset(of: tried.keys))
        // Output of a plain echo reaches no report.
        #expect(lines.filter { $0.contains("not tried") && $0.contains("echo") } == [])
    }
}
