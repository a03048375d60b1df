import Foundation
import Testing

/// Programs that exist for tests alone are few, and no installation or package contains one.
@Suite struct TestingProgramTests {
    /// Returns the names of the programs in Sources/Testing.
    private static func programs() throws -> [String] {
        let folder = SourceTree.root.appendingPathComponent("Sources/Testing")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().filter {
            FileManager.default.fileExists(atPath: folder.appendingPathComponent("\($0)/main.swift").path)
        }
    }

    @Test("No program for tests is installed") func noneIsInstalled() throws {
        let programs = try Self.programs()
        #expect(programs.contains("enclaved-testing"))
        let root = SourceTree.root
        let scripts = ["scripts/stage", "scripts/dist", "scripts/programs"].map(root.appendingPathComponent)
            .filter { FileManager.default.fileExists(atPath: $0.path) }
        let installed = try
            (scripts + SourceTree.files(in: root.appendingPathComponent("Install"), withExtension: ["sh", "service", "socket"]))
            .map(SourceTree.text(of:)).joined(separator: "\n")
        #expect(installed.contains("vauban-witness"))
        let words = Set(installed.split { !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init))
        for program in programs { #expect(!words.contains(program), "\(program) is installed") }
    }

    @Test("At most ten programs exist for tests alone") func programsForTestsAreFew() throws {
        #expect(try Self.programs().count <= 10)
    }
}
