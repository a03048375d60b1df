import Foundation
import Testing

/// Programs that exist for tests alone are few, and no installation or package contains one.
@Suite struct TestingProgramTests {
    /// Returns the names of the programs of the manifest in a folder of Sources, sorted.
    private static func programs(where isWanted: (_ folder: String) -> Bool) throws -> [String] {
        let sources = SourceTree.root.appendingPathComponent("Sources").path
        let graph = try PackageGraph.read()
        return graph.targets.filter { target in
            guard target.kind == .executable, target.folder.path.hasPrefix("\(sources)/") else { return false }
            return isWanted(target.folder.path.dropFirst(sources.count + 1).split(separator: "/").first.map(String.init) ?? "")
        }.flatMap { graph.executables[$0.name] ?? [$0.name] }.sorted()
    }

    private static func programsForTests() throws -> [String] { try programs { $0 == "Testing" } }

    @Test("scripts/programs prints the programs of the manifest, except those for tests") func othersAreInstalled() throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = SourceTree.root.appendingPathComponent("scripts/programs")
        process.standardOutput = output
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let names = String(decoding: printed, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(names.sorted() == (try Self.programs { $0 != "Testing" }))
    }

    @Test("No program for tests is installed") func noneIsInstalled() throws {
        let programs = try Self.programsForTests()
        #expect(programs.contains("rooms-testing") && programs.contains("acceptance"))
        let root = SourceTree.root
        let scripts = ["scripts/stage", "scripts/dist", "scripts/install", "scripts/programs"].map(root.appendingPathComponent)
        var files = scripts
        let walk = FileManager.default.enumerator(
            at: root.appendingPathComponent("Install"), includingPropertiesForKeys: [.isRegularFileKey])
        for case let file as URL in try #require(walk)
        where try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true { files.append(file) }
        // Licenses are prose, and install nothing.
        files.removeAll { $0.lastPathComponent == "NOTICES" }
        let installed = files.compactMap { try? SourceTree.text(of: $0) }.joined(separator: "\n")
        #expect(installed.contains("ExecStart=@PROGRAMS@/vauban-witness"))
        let words = Set(installed.split { !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init))
        for program in programs { #expect(!words.contains(program), "\(program) is installed") }
    }

    @Test("At most seven programs exist for tests alone") func programsForTestsAreFew() throws {
        #expect(try Self.programsForTests().count <= 7)
    }
}
