import Crypto
import Foundation
import Glibc
import Testing
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanPlainText

/// The files that only root can change, and the identifier of a file's program.
@Suite struct InstalledFileTests {
    private static let cat = URL(fileURLWithPath: "/bin/cat").resolvingSymlinksInPath().path

    private func name(_ path: String) throws -> ApplicationIdentifier {
        try InstalledFile.applicationIdentifier(path: path) { file in
            Array(SHA256.hash(data: FileHandle(fileDescriptor: file.number, closeOnDealloc: false).readDataToEndOfFile()))
        }
    }

    @Test("A file of root in folders of root counts as installed") func rootsFilesInRootsFoldersCountAsInstalled() throws {
        let folder = try RootsFolder()
        let path = try folder.copy("/bin/cat", as: "program")
        var facts = stat()
        #expect(stat(path, &facts) == 0)
        let file = try #require(InstalledFile(path: path))
        #expect(file.device == facts.st_dev && file.inode == facts.st_ino)
        #expect(try name(path) == .installed(path: path))
        #expect(InstalledFile(path: "\(folder.path)/absent") == nil && InstalledFile(path: folder.path) == nil)
    }

    @Test("A file that others can write is not installed", arguments: [0o775, 0o757, 0o777])
    func filesWritableByOthersAreNotInstalled(_ mode: UInt32) throws {
        let folder = try RootsFolder()
        let path = try folder.copy("/bin/cat", as: "program")
        #expect(chmod(path, mode) == 0 && InstalledFile(path: path) == nil)
        #expect(chmod(path, 0o755) == 0 && InstalledFile(path: path) != nil)
        #expect(chmod(folder.path, mode) == 0 && InstalledFile(path: path) == nil)
        guard case .build = PackagedKind(try name(path)) else { Issue.record("it is named by its path"); return }
    }

    /// Both folders are examined in one walk, as when a program that root owns has mapped another user's code.
    @Test("Two spellings of one letter are two folders")
    func spellingsAreTwoFolders() throws {
        let folder = try RootsFolder()
        let names = ["caf\u{E9}", "cafe\u{301}"]
        for name in names {
            #expect(mkdir("\(folder.path)/\(name)", 0o755) == 0)
            _ = try folder.copy("/bin/cat", as: "\(name)/program")
        }
        #expect(chmod("\(folder.path)/\(names[1])", 0o777) == 0)
        for order in [names, names.reversed()] {
            var folders = RootOwnedFolders()
            let found = order.map { folders.file(at: "\(folder.path)/\($0)/program") != nil }
            #expect(found == order.map { $0.isSameBytes(as: names[0]) })
        }
    }

    @Test("A combining character on a slash hides no folder", arguments: ["\u{301}program", "\u{20DD}program", "pro\u{600} gram"])
    func signsHideNoFolder(_ name: String) throws {
        let folder = try RootsFolder()
        let path = try folder.copy("/bin/cat", as: name)
        #expect(InstalledFile(path: path) != nil)
        #expect(chmod(folder.path, 0o777) == 0 && InstalledFile(path: path) == nil)
    }

    @Test("A file that another user owns is not installed") func filesOwnedByOthersAreNotInstalled() throws {
        let folder = try RootsFolder()
        let path = try folder.copy("/bin/cat", as: "program")
        #expect(chown(path, 65534, 0) == 0 && InstalledFile(path: path) == nil)
        #expect(chown(path, 0, 65534) == 0 && InstalledFile(path: path) != nil)
        #expect(chown(folder.path, 65534, 0) == 0 && InstalledFile(path: path) == nil)
    }

    /// An access control list shows its grants in the group's bits.
    @Test("Write access by an access control list counts") func writableAccessListCounts() throws {
        let folder = try RootsFolder()
        let path = try folder.copy("/bin/cat", as: "program")
        // Version 2; user::rwx, user:65534:rw-, group::r-x, mask::rwx, other::r-x: tag, rights, who.
        let entries: [(UInt16, UInt16, UInt32)] = [(1, 7, .max), (2, 6, 65534), (4, 5, .max), (16, 7, .max), (32, 5, .max)]
        var list = withUnsafeBytes(of: UInt32(2).littleEndian) { Array($0) }
        for (tag, rights, who) in entries {
            withUnsafeBytes(of: tag.littleEndian) { list += $0 }
            withUnsafeBytes(of: rights.littleEndian) { list += $0 }
            withUnsafeBytes(of: who.littleEndian) { list += $0 }
        }
        let result = path.withCString { path in
            "system.posix_acl_access".withCString { name in
                list.withUnsafeBytes {
                    OwnMounts.call("setxattr", Int(bitPattern: path), Int(bitPattern: name), Int(bitPattern: $0.baseAddress), list.count, 0)
                }
            }
        }
        if result != 0 { try Test.cancel("this file system has no access lists") }
        #expect(InstalledFile(path: path) == nil)
    }

    @Test("Links and detours in a path are refused") func linksAndDetoursAreRefused() throws {
        let folder = try RootsFolder()
        let path = try folder.copy("/bin/cat", as: "program")
        #expect(symlink(path, "\(folder.path)/link") == 0 && InstalledFile(path: "\(folder.path)/link") == nil)
        #expect(symlink(folder.path, "\(folder.path)/folder") == 0 && InstalledFile(path: "\(folder.path)/folder/program") == nil)
        for detour in ["\(folder.path)/./program", "\(folder.path)//program", "\(folder.path)/../\(path)", "var/lib", "", "/", "\(path)/"] {
            #expect(InstalledFile(path: detour) == nil, "\(detour)")
        }
        // The caller may name a program by a link; the identifier is that of the file.
        #expect(try name("\(folder.path)/link") == .installed(path: path))
    }

    @Test("A user's file is named by its content") func usersFileIsNamedByItsContent() throws {
        let folder = try TestFolder()
        let path = "\(folder.path)/program"
        try Data("abc".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try name(path).text == "build:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(throws: SystemError.self) { try name("\(folder.path)/absent") }
        #expect(throws: SystemError.self) { try name(folder.path) }
        #expect(mkfifo("\(folder.path)/pipe", 0o600) == 0)
        #expect(throws: SystemError.self) { try name("\(folder.path)/pipe") }
    }

    /// A file system that users can mount may name any owner, and is always mounted `nosuid`.
    @Test("A file on a mount with `nosuid` is not installed") func nosuidMountsAreNotTrusted() throws {
        let folder = try RootsFolder()
        for (flags, counts) in [(OwnMounts.nosuid, false), (0, true)] {
            // By its path alone: this thread must not hold the last reference to the folder, which would make it busy.
            let isInstalled = try OwnMounts.with("none", on: folder.path, type: "tmpfs", flags: flags) { [path = folder.path] in
                chmod(path, 0o755)
                try FileManager.default.copyItem(atPath: Self.cat, toPath: "\(path)/program")
                return InstalledFile(path: "\(path)/program") != nil
            }
            #expect(isInstalled == counts)
        }
    }

    @Test("Packaged applications are recognized by their paths") func packagedPlacesAreRecognizedByTheirPaths() {
        let deployed = "/var/lib/flatpak/app/org.example.App/x86_64/stable/0123/files"
        #expect(PackagedPlace("\(deployed)/bin/app") == .flatpak(name: "org.example.App"))
        #expect(PackagedPlace("/snap/firefox/4336/usr/lib/firefox/firefox") == .snap(name: "firefox"))
        #expect(PackagedPlace("/var/lib/snapd/snap/firefox_two/1/bin/x") == .snap(name: "firefox_two"))
        for other in [
            "/snap/bin/firefox", "/snap/firefox", "/snap//1/x", "/snap/../1/x", "/snap/a b/1/x", "/home/x/snap/firefox/1/x", "/usr/bin/cat",
            "\(deployed)", "/var/lib/flatpak/app/org.example.App/x86_64/stable/0123/export/bin/app",
            "/var/lib/flatpak/runtime/org.example.Platform/x86_64/1/0123/files/bin/app", "", "/",
        ] { #expect(PackagedPlace(other) == nil, "\(other)") }
    }
}

/// The kind of an identifier, for a test.
private enum PackagedKind {
    case build, other
    init(_ name: ApplicationIdentifier) { self = name.text.hasPrefix("build:") ? .build : .other }
}
