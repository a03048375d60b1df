import Foundation
import Testing

/// Everything that a comment, a document or a script cites exists in this repository.
@Suite struct CitationTests {
    /// Our comments, documents, scripts and manual pages; not vectors or stored inputs.
    private static func texts() throws -> [(name: String, text: String)] { try read.get() }

    private static let read: Result<[(name: String, text: String)], any Error> = Result {
        let folders = [
            "Sources", "Tests", "Examples", "Benchmarks", "Fuzz", "Sheet", "Desktop", "Specs", "Manual", "Models", "Install", "Vectors",
            "scripts",
        ]
        let extensions: Set<String> = ["swift", "c", "h", "md", "sh", "py", "pml", "1", "5", "8", "in"]
        var files = folders.flatMap { SourceTree.files(in: SourceTree.root.appendingPathComponent($0), withExtension: extensions) }
        files += SourceTree.files(in: SourceTree.root.appendingPathComponent("scripts"), withExtension: [""])
        files += ["README.md", "ARCHITECTURE.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "Package.swift", "Makefile"]
            .map { SourceTree.root.appendingPathComponent($0) }
        return try files.filter { !$0.hasDirectoryPath && (try? $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) != true }
            .map { (SourceTree.name(of: $0), try SourceTree.text(of: $0)) }
    }

    private static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: SourceTree.root.appendingPathComponent(path).path)
    }

    /// Of a path with a pattern or a variable in it, only the folder is looked for.
    @Test("A cited path exists")
    func pathsAreThere() throws {
        let path =
            #/
            (?:^|[\s(`"'\[])
            ((?:Specs|Manual|Models|Vectors|Sources|Tests|scripts|Install|Browser)\/[\w.\/+-]*\w)
            ([-.]*[*{<$])?
            /#.anchorsMatchLineEndings()
        var count = 0
        for (name, text) in try Self.texts() where name != "Tests/WallsTests/CheckerTests.swift" {
            for match in text.matches(of: path) where !match.1.hasSuffix("/NAME.sh") {
                count += 1
                let cited = match.2 == nil ? String(match.1) : (String(match.1) as NSString).deletingLastPathComponent
                #expect(Self.exists(cited), "\(name) names \(cited), which is not there")
            }
        }
        #expect(count > 1000, "too few citations were found for this to mean anything")
    }

    /// Also by file name alone, as documents in one folder refer to each other.
    @Test("A cited document exists") func citedDocumentsExist() throws {
        // INSTALL.md is part of a release and made by scripts/dist.
        let documents = Set(
            SourceTree.files(in: SourceTree.root, withExtension: ["md"]).map(\.lastPathComponent) + ["INSTALL.md"])
        for (name, text) in try Self.texts() {
            for match in text.matches(of: #/[^\w.*-]([a-zA-Z][\w-]*\.md)\b/#) where !documents.contains(String(match.1)) {
                // Files that tests write themselves.
                if name.hasPrefix("Tests/WallsTests") { continue }
                Issue.record("\(name) names \(match.1), which is nowhere")
            }
        }
    }

    @Test("Links of documents lead to files") func linksOfDocumentsWork() throws {
        for (name, text) in try Self.texts() where name.hasSuffix(".md") && !name.contains(".docc/") {
            let folder = name.split(separator: "/").dropLast().joined(separator: "/")
            for match in text.matches(of: #/\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/#) {
                #expect(
                    Self.exists(folder.isEmpty ? String(match.1) : "\(folder)/\(match.1)"),
                    "\(name) links to \(match.1), which is not there")
            }
        }
    }

    /// `(Specs/secitem.md, 6.1)`, `(Specs/owners.md, section 4)`.
    @Test("A cited section exists") func citedSectionsExist() throws {
        var headings: [String: Set<String>] = [:]
        var count = 0
        for (name, text) in try Self.texts() {
            for match in text.matches(of: #/(Specs\/[\w-]+\.md),? (?:section )?([0-9]+(?:\.[0-9]+)?)\b/#) {
                let document = String(match.1)
                guard Self.exists(document) else { continue }
                if headings[document] == nil {
                    let lines = try SourceTree.text(of: SourceTree.root.appendingPathComponent(document)).split(separator: "\n")
                    headings[document] = Set(lines.compactMap { $0.firstMatch(of: #/^#+ ([0-9]+(?:\.[0-9]+)?)/#).map { String($0.1) } })
                }
                count += 1
                #expect(
                    headings[document]?.contains(String(match.2)) == true,
                    "\(name) cites \(document), \(match.2): no heading has that number")
            }
        }
        #expect(count > 30, "too few citations were found for this to mean anything")
    }

    @Test("A cited row is in the acceptance list") func citedRowsAreInTheAcceptanceList() throws {
        let list = try SourceTree.text(of: SourceTree.root.appendingPathComponent("Specs/acceptance.md"))
        let rows = Set(list.matches(of: #/^\| (C-[0-9]{3}) \|/#.anchorsMatchLineEndings()).map { String($0.1) })
        #expect(rows.count == 249)
        for (name, text) in try Self.texts() {
            for match in text.matches(of: #/\bC-[0-9]{3}\b/#) {
                #expect(rows.contains(String(match.0)), "\(name) cites \(match.0), which is no row of Specs/acceptance.md")
            }
        }
    }
}
