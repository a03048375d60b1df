import Foundation
import Testing

/// Every format has vectors: its document names them, and tests and the second reader use them (Vectors/README.md).
@Suite struct VectorListTests {
    /// Documents that specify no format of Vauban.
    private static let withoutFormat: Set<String> = [
        "acceptance", "apple-deviations", "hardening", "module-names", "secitem", "transport",
    ]

    private static let root = SourceTree.root

    /// Returns the paths that a document names in its paragraph `Vectors: …`; empty if it has none.
    private static func vectors(of document: URL) throws -> [String] {
        let lines = try SourceTree.text(of: document).split(separator: "\n", omittingEmptySubsequences: false)
        let paragraph = lines.drop { !$0.hasPrefix("Vectors: ") }.prefix { !$0.isEmpty }
        return paragraph.flatMap { $0.matches(of: /`([^`]+)`/) }.map { String($0.1) }
    }

    private static func documents() -> [URL] { SourceTree.files(in: root.appendingPathComponent("Specs"), withExtension: ["md"]) }

    private static func files(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path).sorted()
    }

    @Test("Every document of a format names vectors that exist") func documentsNameVectors() throws {
        for document in Self.documents() {
            let page = document.deletingPathExtension().lastPathComponent
            let vectors = try Self.vectors(of: document)
            #expect(
                vectors.isEmpty == Self.withoutFormat.contains(page),
                "Specs/\(page).md needs a paragraph \"Vectors: …\" or specifies no format")
            for path in vectors {
                #expect(
                    FileManager.default.fileExists(atPath: Self.root.appendingPathComponent(path).path), "Specs/\(page).md names \(path)")
            }
        }
    }

    @Test("Every file of vectors is named by a document") func filesAreNamed() throws {
        let named = try Set(Self.documents().flatMap(Self.vectors(of:)))
        let folders = ["wire", "formats"].map { "Vectors/\($0)" }
        // Apple specifies the rules for passwords.
        let others: Set<String> = ["password-rules.json"]
        let tools: Set<String> = ["README.md", "check.py", "make.py", "maker", "second_reader", "wire", "formats"]
        let files = try Self.files("Vectors").filter { !tools.union(others).contains($0) }.map { "Vectors/\($0)" }
        for file in try files + folders.flatMap({ folder in try Self.files(folder).map { "\(folder)/\($0)" } }) {
            #expect(named.contains(file), "no document names \(file)")
        }
    }

    @Test("Every file of vectors is read by a Swift test or a script, and by the second reader") func filesAreRead() throws {
        let tests = try SourceTree.files(in: Self.root.appendingPathComponent("Tests"), withExtension: ["swift", "sh"])
            .map(SourceTree.text(of:)).joined(separator: "\n")
        let reader = try SourceTree.text(of: Self.root.appendingPathComponent("Vectors/check.py"))
        for file in try Self.files("Vectors/formats") {
            let name = file.replacing(".json", with: "")
            #expect(tests.contains("FormatVectors(\"\(name)\")"), "no Swift test reads \(file)")
            #expect(reader.contains("'\(name)': "), "Vectors/check.py does not read \(file)")
        }
        for file in try Self.files("Vectors/wire") {
            #expect(tests.contains("\"\(file.replacing(".json", with: ""))\""), "no test reads \(file)")
        }
        for file in ["recovery-key.json", "key-hierarchy.json", "export.json", "import", "certificates", "wycheproof", "keychain-database"]
        {
            #expect(tests.contains(file), "no test reads \(file)")
        }
    }

    @Test("Vectors/README.md names every file of vectors") func readmeNamesFiles() throws {
        let text = try SourceTree.text(of: Self.root.appendingPathComponent("Vectors/README.md"))
        // A row names the folder once: `formats/a.json`, `b.json`.
        let named = Set(text.matches(of: /`([^`]+)`/).map { String($0.1.split(separator: "/").last ?? "") })
        let tools: Set<String> = ["README.md", "make.py", "maker", "formats"]
        for file in try Self.files("Vectors").filter({ !tools.contains($0) }) + Self.files("Vectors/formats") {
            #expect(named.contains(file), "Vectors/README.md does not name \(file)")
        }
    }

    @Test("Every file of vectors has some that are refused") func filesHaveFailures() throws {
        let files = try ["Vectors/wire", "Vectors/formats"].flatMap { folder in try Self.files(folder).map { "\(folder)/\($0)" } }
        for file in files + ["Vectors/export.json", "Vectors/recovery-key.json"] {
            #expect(try SourceTree.text(of: Self.root.appendingPathComponent(file)).contains("\"failure\""), "\(file) refuses nothing")
        }
    }
}
