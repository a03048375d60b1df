import Foundation
import Glibc
import Testing
import VaubanLinuxHost

/// Files that a user or root puts somewhere, and that a program reads without being asked to.
@Suite struct SmallFileTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    @Test("A file is read whole up to the limit, also through a link") func filesAreRead() throws {
        try Data("four".utf8).write(to: URL(fileURLWithPath: path("file")))
        try #require(symlink(path("file"), path("link")) == 0)
        for name in ["file", "link"] {
            #expect(SmallFile.text(path: path(name), max: 4) == "four")
            #expect(SmallFile.text(path: path(name), max: 3) == nil)
        }
        // The kernel's files have no size.
        #expect(SmallFile.text(path: "/proc/self/comm", max: 64)?.isEmpty == false)
    }

    @Test("A file of 10 GB is refused") func hugeFilesAreRefused() throws {
        try Data().write(to: URL(fileURLWithPath: path("file")))
        try #require(truncate(path("file"), 10 << 30) == 0)
        #expect(SmallFile.bytes(path: path("file"), max: 1 << 20) == nil)
    }

    @Test("A pipe, a folder, a device or a link to one is refused and not waited for")
    func othersAreRefused() throws {
        try #require(mkfifo(path("pipe"), 0o600) == 0)
        for (name, target) in [("toPipe", path("pipe")), ("toFolder", folder.path), ("toDevice", "/dev/zero"), ("nowhere", path("none"))] {
            try #require(symlink(target, path(name)) == 0)
            #expect(SmallFile.bytes(path: path(name), max: 1 << 20) == nil, "\(name)")
        }
        #expect(SmallFile.bytes(path: path("pipe"), max: 1 << 20) == nil)
        #expect(SmallFile.bytes(path: folder.path, max: 1 << 20) == nil)
        #expect(SmallFile.bytes(path: "/dev/zero", max: 1 << 20) == nil)
    }

    @Test("A pipe in place of the list of rooms is refused and not waited for") func pipeIsNoRoster() throws {
        try #require(mkfifo(path("rooms"), 0o644) == 0)
        #expect(throws: ServiceError.self) { try Roster.installed(path: path("rooms")) }
    }

    @Test("A link to /dev/null is an empty file") func nullIsEmpty() throws {
        try #require(symlink("/dev/null", path("link")) == 0)
        #expect(SmallFile.bytes(path: path("link"), max: 0) == [])
    }
}
