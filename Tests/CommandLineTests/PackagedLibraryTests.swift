import Foundation
import Testing
import VaubanCommands

/// Libraries in the loader's list that an installed package has.
@Suite struct PackagedLibraryTests {
    private let root = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().appendingPathComponent(
        "vauban-libraries-\(UUID().uuidString)")
    private static let library = "/usr/lib/arm/libown.so"
    private static let pair = "/usr/lib/arm/libown-v7l.so\n/lib/arm/libown-v6l.so"

    private func write(_ text: String, _ path: String) throws {
        let file = root.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        try setMode(0o644, path)
    }

    private func setMode(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(root.path)/\(path)")
    }

    private func makeLibraries() throws {
        for name in ["libown.so", "libown-v7l.so", "libown-v6l.so", "libown-other.so.1"] { try write("", "usr/lib/arm/\(name)") }
        try write("", "var/lib/dpkg/info/own:armhf.list")
        for folder in ["", "usr", "usr/lib", "usr/lib/arm", "var", "var/lib", "var/lib/dpkg", "var/lib/dpkg/info"] {
            try setMode(0o755, folder)
        }
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: "\(root.path)/lib", withDestinationPath: "usr/lib")
        try manager.createSymbolicLink(atPath: "\(root.path)/further", withDestinationPath: "lib")
        try manager.createSymbolicLink(atPath: "\(root.path)/usr/lib/arm/link.so", withDestinationPath: "libown.so")
    }

    /// Returns the check with this line in the loader's list, and these files in a package's.
    private func check(_ entry: String, packaged: String) throws -> IntegrityCheck {
        try write("\(entry)\n", "etc/ld.so.preload")
        try write("/.\n/usr\n\(packaged)\n", "var/lib/dpkg/info/own:armhf.list")
        return PreloadCheck(root: root.path, owner: geteuid()).result
    }

    @Test("A library of an installed package is no alteration, by each of its names") func packaged() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        try makeLibraries()
        for (entry, list) in [
            (Self.library, Self.library), (Self.library, "/lib/arm/libown.so"), ("/lib/arm/libown.so # its own", Self.library),
            ("/usr/lib/arm/link.so", Self.library), ("/usr/lib/arm/libown-${PLATFORM}.so", "\(Self.pair)\n/usr/lib/arm/libown-other.so.1"),
            ("/usr/lib/arm/libown-v7l.so:\(Self.library)", "\(Self.pair)\n\(Self.library)"),
        ] {
            let result = try check(entry, packaged: list)
            #expect(result.state == .met && result.by.contains(" names libraries of installed packages alone"), "\(entry)")
        }
    }

    @Test("Another library is an alteration, and named") func foreign() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        try makeLibraries()
        for (entry, list) in [
            (Self.library, "\(Self.library).1"), (Self.library, "/usr/lib/arm"), ("libown.so", Self.library),
            ("/usr/lib/arm/../arm/libown.so", Self.library), ("/usr/lib/arm/libown-v7l.so \(Self.library)", Self.library),
            ("/usr/lib/arm/libown-${PLATFORM}.so", "/usr/lib/arm/libown-v7l.so"), ("/usr/lib/arm/libnone-${PLATFORM}.so", Self.pair),
            ("/usr/$LIB/libown.so", Self.library), ("/usr/lib/arm/none.so", "/usr/lib/arm/none.so"),
            ("/further/arm/libown.so", Self.library), ("\(Self.library)\r", Self.library),
        ] {
            let result = try check(entry, packaged: list)
            #expect(result.isAltered && result.by.hasPrefix("/etc/ld.so.preload puts libraries "), "\(entry)")
        }
        #expect(try check("/opt/own.so \(Self.library)", packaged: Self.library).by.contains("; /opt/own.so is not "))
    }

    @Test("A library that others can change is an alteration, as is one whose folder or package list they can change")
    func changeable() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        try makeLibraries()
        for (path, mode) in [
            ("usr/lib/arm/libown.so", 0o644), ("usr/lib/arm", 0o755), ("var/lib/dpkg/info", 0o755),
            ("var/lib/dpkg/info/own:armhf.list", 0o644),
        ] {
            #expect(try check(Self.library, packaged: Self.library).state == .met)
            try setMode(mode | 0o020, path)
            #expect(PreloadCheck(root: root.path, owner: geteuid()).result.isAltered, "\(path)")
            try setMode(mode, path)
        }
        // The files belong to a user other than the only one who may change them.
        #expect(PreloadCheck(root: root.path, owner: geteuid() + 1).result.isAltered)
    }
}
