import Foundation

/// The sources of this repository, found from the location of this file.
enum SourceTree {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().standardizedFileURL

    /// The folder of a target's sources, which has the target's name.
    struct Target {
        let name: String
        let folder: URL
    }

    /// Returns the folders directly below the groups in Sources and below each room in Sources/Rooms.
    static func targets() throws -> [Target] {
        let sources = root.appendingPathComponent("Sources")
        let groups = try folders(in: sources).filter { $0.lastPathComponent != "Rooms" }
        let rooms = try folders(in: sources.appendingPathComponent("Rooms"))
        return try (groups + rooms).flatMap(folders(in:)).map { Target(name: $0.lastPathComponent, folder: $0) }
    }

    /// Returns every file below the folder with one of the extensions, in a stable order; build folders contain others' sources.
    static func files(in folder: URL, withExtension extensions: Set<String>) -> [URL] {
        guard let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else { return [] }
        var found: [URL] = []
        for case let file as URL in walk {
            if file.lastPathComponent.hasPrefix(".build") { walk.skipDescendants() }
            if extensions.contains(file.pathExtension) { found.append(file) }
        }
        return found.sorted { $0.path < $1.path }
    }

    /// Returns all Swift files of this repository. The manifest is one of them.
    static func ownSwiftFiles() -> [URL] {
        [root.appendingPathComponent("Package.swift")]
            + ["Sources", "Tests", "Examples", "Benchmarks", "Sheet", "Desktop"].flatMap {
                files(in: root.appendingPathComponent($0), withExtension: ["swift"])
            }
    }

    static func text(of file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

    /// Returns the path for a failure's message.
    static func name(of file: URL) -> String { file.standardizedFileURL.path.replacingOccurrences(of: root.path + "/", with: "") }

    private static func folders(in folder: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: [.isDirectoryKey], options: .skipsHiddenFiles)
            .filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
            .sorted { $0.path < $1.path }
    }
}
