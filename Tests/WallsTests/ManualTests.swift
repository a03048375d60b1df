import Foundation
import Testing

/// The manual covers every verb.
@Suite struct ManualTests {
    private static func text(_ path: String) throws -> String { try SourceTree.text(of: SourceTree.root.appendingPathComponent(path)) }

    /// Returns the verbs as typed, from the sources of the command line: an entry of VaubanCommand is a type, and its file under Verbs may
    /// give it another name.
    private static func verbs() throws -> [String] {
        let folder = SourceTree.root.appendingPathComponent("Sources/CommandLine/VaubanCommands")
        let sources = try SourceTree.files(in: folder, withExtension: ["swift"]).map(SourceTree.text(of:)).joined(separator: "\n")
        let grammar = try text("Sources/CommandLine/VaubanCommands/VaubanCommand.swift")
        // Verbs before the groups are not for users.
        let rows = try #require(grammar.range(of: "groupedSubcommands:")).upperBound..<grammar.endIndex
        let types = grammar[rows].matches(of: /(\w+)\.self/).map { String($0.1) }
        return try types.map { type in
            let start = try #require(sources.range(of: "struct \(type): "), "\(type) is nowhere")
            let configuration = sources[start.upperBound...].prefix { $0 != "\"" }
            guard configuration.contains("commandName: ") else { return type.lowercased() }
            return String(sources[configuration.endIndex...].dropFirst().prefix { $0 != "\"" })
        }
    }

    @Test("The verbs of the command line are found") func verbsAreFound() throws {
        let verbs = try Self.verbs()
        #expect(verbs.count > 15)
        #expect(Set(["set", "import", "list", "allow", "passcode", "login"]).isSubset(of: verbs))
    }

    @Test("Every verb is in the manual page") func everyVerbIsInTheManualPage() throws {
        let entries = try Self.text("Install/man/vauban.1").split(separator: "\n").filter { $0.hasPrefix(".It Cm ") }
            .map { $0.split(separator: " ") }
        for verb in try Self.verbs() {
            #expect(entries.contains { $0.contains(Substring(verb)) }, "Install/man/vauban.1 does not know \(verb)")
        }
    }

    @Test("Every verb is in the table of the manual") func everyVerbIsInTheTableOfTheManual() throws {
        let parts = try Self.text("Manual/command-line.md").components(separatedBy: "```")
        let words = try #require(parts.dropFirst().first).split(whereSeparator: \.isWhitespace)
        for verb in try Self.verbs() {
            #expect(zip(words, words.dropFirst()).contains { $0 == "vauban" && $1 == verb }, "Manual/command-line.md does not show \(verb)")
        }
    }

    @Test("Every command that stands for another program's is a verb") func familiarCommandsAreVerbs() throws {
        let verbs = Set(try Self.verbs())
        let page = try Self.text("Manual/coming-from.md").matches(of: /`vauban ([a-z][a-z-]*)/).map { String($0.1) }
        let table = try Self.text("Sources/CommandLine/VaubanCommands/Service/FamiliarVerbs.swift")
        let advice = table.matches(of: /": "([a-z][a-z-]*)/).map { String($0.1) }
        #expect(page.count > 80 && advice.count > 80)
        for verb in page + advice { #expect(verbs.contains(verb), "\(verb) is no verb of vauban") }
    }

    @Test("The example of an entitlements file is valid") func exampleOfEntitlementsIsValid() throws {
        let page = try Self.text("Install/man/vauban-entitlements.5")
        let start = try #require(page.range(of: "<?xml")).lowerBound
        let end = try #require(page.range(of: "</plist>")).upperBound
        let list = try PropertyListSerialization.propertyList(from: Data(page[start..<end].utf8), format: nil)
        let keys = try #require(list as? [String: [String]])
        #expect(keys.keys.sorted() == ["keychain-access-groups", "vauban-applications"])
        let source = try Self.text("Sources/Rooms/Keychain/Keychain/Entitlements.swift")
        for key in keys.keys { #expect(source.contains("\"\(key)\"")) }
    }
}
