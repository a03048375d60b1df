import Foundation
import Glibc
import TestSupport
import Testing
import VaubanPrompt
import VaubanUserModel

/// The name and icon of a program, and the entries that are ignored.
@Suite struct ApplicationDirectoryTests {
    /// A folder of entries, as root creates one.
    private struct Folder: ~Copyable {
        let path: String

        init() throws {
            // Only entries that root alone can change count, so only root can create them.
            if geteuid() != 0 { try Test.cancel("it needs root, whose entries alone count") }
            var template = Array("/tmp/vauban-applications.XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
            path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            chmod(path, 0o755)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func put(_ name: String, _ lines: String) throws {
            try "[Desktop Entry]\nType=Application\n\(lines)\n[Desktop Action more]\nName=Another\n".write(
                toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
            chmod("\(path)/\(name)", 0o644)
        }

        func entry(_ path: String?, gap: IdentityGap? = nil, confinement: CallerName.Confinement? = nil) -> ApplicationDirectory
            .Entry?
        {
            ApplicationDirectory(folders: ["/no/such/folder", self.path])
                .entry(of: CallerName(pid: 1, path: path, gap: gap, confinement: confinement))
        }
    }

    private static let env = realpath("/usr/bin/env")

    private static func realpath(_ path: String) -> String {
        guard let real = Glibc.realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    @Test("A program has the name of its desktop entry") func programHasTheNameOfItsDesktopEntry() throws {
        let folder = try Folder()
        try folder.put("env.desktop", "Name=Environment\u{202e}\nName[de]=Umgebung\nIcon=env-icon\nExec=env -i %U")
        #expect(folder.entry(Self.env) == .init(name: "Environment", icon: "env-icon"))
        #expect(folder.entry("/usr/bin/other") == nil)
        #expect(folder.entry(nil) == nil)
    }

    @Test("An interpreter has no name from a desktop entry") func interpreterHasNoDesktopName() throws {
        let folder = try Folder()
        try folder.put("env.desktop", "Name=Environment\nExec=/usr/bin/env")
        #expect(folder.entry(Self.env, gap: .interpreter) == nil)
        #expect(folder.entry(Self.env, gap: .foreignCode) == nil)
    }

    @Test("A program that starts another does not get the other's name") func terminalDoesNotLendItsNameToACommand() throws {
        let folder = try Folder()
        try folder.put("bank.desktop", "Name=Bank\nExec=env bank-program")
        #expect(folder.entry(Self.env) == nil)
    }

    @Test("Desktop entries that others can write do not count") func entriesWritableByOthersDoNotCount() throws {
        let folder = try Folder()
        try folder.put("env.desktop", "Name=Environment\nExec=/usr/bin/env")
        chmod("\(folder.path)/env.desktop", 0o666)
        #expect(folder.entry(Self.env) == nil)
        chmod("\(folder.path)/env.desktop", 0o644)
        #expect(folder.entry(Self.env) != nil)
        chmod(folder.path, 0o777)
        #expect(folder.entry(Self.env) == nil)
        chmod(folder.path, 0o755)
        chown("\(folder.path)/env.desktop", 65534, 0)
        #expect(folder.entry(Self.env) == nil)
    }

    @Test("Flatpak applications and snaps are found by name") func flatpaksAndSnapsAreFoundByName() throws {
        let folder = try Folder()
        try folder.put("org.example.Mail.desktop", "Name=Mail\nIcon=org.example.Mail\nExec=flatpak run org.example.Mail")
        try folder.put("bank_bank.desktop", "Name=Bank\nExec=/snap/bin/bank %u")
        #expect(
            folder.entry("/app/bin/x", gap: nil, confinement: .init(.flatpak, "org.example.Mail"))
                == .init(name: "Mail", icon: "org.example.Mail"))
        #expect(folder.entry("/app/bin/x", gap: nil, confinement: .init(.flatpak, "org.example")) == nil)
        #expect(folder.entry("/snap/bank/1/x", gap: nil, confinement: .init(.snap, "bank")) == .init(name: "Bank", icon: nil))
    }
}
