import Foundation
import Testing
import VaubanCommands

/// The pages of the manual that messages name.
@Suite struct ManualPageTests {
    @Test("Each page that a message names is in the manual") func pagesExist() {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        for page in ManualPage.allCases {
            let path = root.appendingPathComponent(page.place(beside: nil)).path
            #expect(FileManager.default.fileExists(atPath: path), "\(page)")
        }
    }

    @Test("An installed page is named by its path, and one that is not by its place in the repository")
    func installedPagesAreFound() throws {
        let prefix = FileManager.default.temporaryDirectory.appendingPathComponent("vauban-manual-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: prefix) }
        let folder = prefix.appendingPathComponent("share/doc/vauban/Manual")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let programs = "\(prefix.path)/lib/vauban"
        #expect(ManualPage.integrity.place(beside: programs) == "Manual/integrity.md")
        let page = folder.appendingPathComponent("integrity.md")
        try Data("# Integrity\n".utf8).write(to: page)
        #expect(ManualPage.integrity.place(beside: programs) == page.path)
        #expect(ManualPage.commandLine.place(beside: programs) == "Manual/command-line.md")
        for folder in ["", "relative", "/", "/bin"] { #expect(ManualPage.integrity.place(beside: folder) == "Manual/integrity.md") }
    }
}
