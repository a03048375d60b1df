import Foundation
import Testing

/// ARCHITECTURE.md says which module has which errors, and who is to blame for them.
@Suite struct ErrorTableTests {
    /// Returns the types of the table, each as `MODULE TYPE`. Where a row has several modules, a type may be of any of them.
    private static func rows() throws -> [(modules: [String], types: [String])] {
        let lines = try SourceTree.text(of: SourceTree.root.appendingPathComponent("ARCHITECTURE.md")).components(separatedBy: "\n")
        let section = lines.drop { $0 != "## Errors" }.dropFirst().prefix { !$0.hasPrefix("## ") }
        var modules: [String] = []
        return section.filter { $0.hasPrefix("|") }.dropFirst(2).map { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { cell in
                cell.matches(of: /`([^`]+)`/).map { String($0.1) }
            }
            if !cells[1].isEmpty { modules = cells[1] }
            return (modules, cells[2])
        }
    }

    /// Returns the types of a target that conform to `Error` where they are declared, by their own names.
    private static func errors(of target: SourceTree.Target) throws -> Set<String> {
        let declaration = /(?:enum|struct|class|actor) (\w+)(?:<[^>]*>)?: ([^{]*)/
        var errors: Set<String> = []
        for file in SourceTree.files(in: target.folder, withExtension: ["swift"]) {
            for line in SwiftText(try SourceTree.text(of: file)).codeLines {
                for match in line.matches(of: declaration) where match.2.contains(/\bError\b/) { errors.insert(String(match.1)) }
            }
        }
        return errors
    }

    @Test("The table of errors in ARCHITECTURE.md is complete, and names no error that is gone") func tableMatchesTheSources() throws {
        let testing = SourceTree.root.appendingPathComponent("Sources/Testing").path
        let rows = try Self.rows()
        var found: [String: Set<String>] = [:]
        for target in try SourceTree.targets() where !target.folder.path.hasPrefix(testing) {
            found[target.name] = try Self.errors(of: target)
            for type in found[target.name] ?? [] {
                let isNamed = rows.contains { row in
                    row.modules.contains(target.name) && row.types.contains { $0 == type || $0.hasSuffix(".\(type)") }
                }
                #expect(isNamed, "the table of errors does not have \(type) of \(target.name)")
            }
        }
        for row in rows {
            #expect(!row.types.isEmpty && row.modules.allSatisfy { found[$0] != nil })
            for type in row.types {
                let name = type.split(separator: ".").last.map(String.init) ?? type
                #expect(row.modules.contains { found[$0]?.contains(name) == true }, "\(row.modules) have no error \(type)")
            }
        }
    }
}
