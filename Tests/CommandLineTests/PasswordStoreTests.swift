import Foundation
import Glibc
import Testing
import VaubanCommands
import VaubanRefusal

/// Which files of a folder of pass are passwords (Specs/import.md).
@Suite struct PasswordStoreTests {
    /// Calls `body` with a folder that has these empty files.
    private func withFolder(_ files: [String], _ body: (String) throws -> Void) throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("vauban-pass-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        for file in files {
            let place = root.appendingPathComponent(file)
            try FileManager.default.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: place)
        }
        try body(root.path)
    }

    @Test("Names that begin with a dot are passwords as any other, except what pass and git keep there")
    func dottedNames() throws {
        let files = [
            ".git/config.gpg", ".gpg-id", ".gpg-id.sig", ".gitattributes", ".gitignore", ".extensions/a.gpg", ".public-keys/b.gpg",
            "web/.gpg-id",
            "web/.git/c.gpg", ".mail.gpg", "web/.bank.gpg", ".old/anna.gpg", "web/.extensions/d.gpg", ".gpg", ".note",
        ]
        try withFolder(files) { root in
            let store = try PasswordStore(root: root)
            #expect(store.files == [".mail.gpg", ".old/anna.gpg", "web/.bank.gpg", "web/.extensions/d.gpg"])
            #expect(store.strange.map(\.path) == [".gpg", ".note"])
        }
    }

    @Test("A name that is not UTF-8 is reported")
    func otherBytes() throws {
        try withFolder(["anna.gpg"]) { root in
            let path = (Array("\(root)/".utf8) + [0xFF] + Array(".gpg".utf8) + [0]).map { CChar(bitPattern: $0) }
            let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
            try #require(file >= 0)
            close(file)
            let store = try PasswordStore(root: root)
            #expect(store.files == ["anna.gpg"] && store.strange.map(\.why) == ["its name is not UTF-8"])
        }
    }

    @Test("A folder without passwords is refused")
    func emptyFolder() throws {
        try withFolder([".git/config.gpg", ".gpg-id"]) { root in #expect(throws: Refusal.self) { _ = try PasswordStore(root: root) } }
    }
}
