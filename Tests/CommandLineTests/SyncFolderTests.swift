import Foundation
import Testing
import VaubanCommands
import VaubanRefusal

/// A folder in which other programs keep markers of their own: Syncthing, git, a file system (Specs/sync.md, "The carrier").
@Suite struct SyncFolderTests {
    private static let markers = [".stfolder/x", ".stignore", ".stversions/old", ".git/config", ".gitignore", "lost+found/1"]

    /// Calls `body` with a new folder that contains these files.
    private func withFolder(_ files: [String], _ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "circle-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for file in files { try write(file, in: path) }
        try body(path)
    }

    private func write(_ file: String, in path: String) throws {
        let url = URL(fileURLWithPath: "\(path)/\(file)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(file.utf8).write(to: url)
    }

    private func holds(_ file: String, in path: String) -> Bool {
        FileManager.default.contents(atPath: "\(path)/\(file)") == Data(file.utf8)
    }

    @Test("A folder that has only markers of other programs is taken for a new circle, and they stay") func markersAreNoContent() throws {
        try withFolder(Self.markers) { path in
            let folder = try SyncFolder.new(path)
            let section = SyncFolder.Section.device([UInt8](repeating: 0xA1, count: 16))
            try folder.add([1, 2, 3], named: "00000001", in: section)
            let hidden = ["\(section.path)/.syncthing.00000002.tmp", "\(section.path)/.copy.partial"]
            for file in hidden + ["\(section.path)/00000002.partial"] { try write(file, in: path) }
            #expect(try folder.names(in: section) == ["00000001"])
            try folder.erase("00000001", in: section)
            folder.tidy(section)
            #expect(!FileManager.default.fileExists(atPath: "\(path)/\(section.path)/00000002.partial"))
            for file in Self.markers + hidden { #expect(holds(file, in: path), "\(file)") }
        }
    }

    @Test("A folder with other content is not taken for a new circle", arguments: ["notes.txt", "circle/00000001", "devices/.x"])
    func contentIsRefused(_ file: String) throws {
        try withFolder(Self.markers + [file]) { path in
            let refusal = try #require(throws: Refusal.self) { _ = try SyncFolder.new(path) }
            #expect(refusal.reason == .badParameter)
            #expect(holds(file, in: path))
        }
    }
}
