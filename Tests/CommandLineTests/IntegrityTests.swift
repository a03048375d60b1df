import Foundation
import Glibc
import TestSupport
import Testing
import VaubanCommands

/// A folder of installed files below the temporary folder, with the manifest that `scripts/integrity-manifest` writes of it.
private final class Installation {
    let folder: String
    /// A link to a program.
    let link: String
    private let root: URL

    init() throws {
        root = FileManager.default.temporaryDirectory.appendingPathComponent("vauban-integrity-\(UUID().uuidString)")
        folder = root.resolvingSymlinksInPath().appendingPathComponent("lib/vauban").path
        link = "\(root.resolvingSymlinksInPath().path)/program"
        try FileManager.default.createDirectory(
            atPath: "\(folder)/swift", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        for (name, mode) in [("vauban", 0o755), ("swift/library", 0o644)] {
            try Data("the contents of \(name)".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(folder)/\(name)")
        }
        for path in [root.path, "\(root.path)/lib", folder] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "lib/vauban/vauban")
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    /// Returns the manifest as an installation writes it.
    func manifest(file: String = #filePath) throws -> IntegrityManifest {
        let repository = URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let script = Process()
        script.executableURL = repository.appendingPathComponent("scripts/integrity-manifest")
        script.arguments = ["", root.resolvingSymlinksInPath().path]
        let (input, output) = (Pipe(), Pipe())
        (script.standardInput, script.standardOutput) = (input, output)
        BrokenPipe.endsNoTests()
        try script.run()
        let prefix = root.resolvingSymlinksInPath().path
        let paths = ["/lib/vauban/vauban", "/lib/vauban/swift/library", "/program", "/lib/vauban/"].map { "\(prefix)\($0)\n" }
        input.fileHandleForWriting.write(Data(paths.joined().utf8))
        try input.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        script.waitUntilExit()
        #expect(script.terminationStatus == 0)
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(IntegrityManifest.name)"))
        return try #require(try IntegrityManifest.installed(in: folder))
    }

    func write(_ text: String, _ name: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
    func setMode(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
    func setOwner(_ user: uid_t, _ path: String) throws {
        guard chown(path, user, 0) == 0 else { throw CocoaError(.fileWriteNoPermission) }
    }
    func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }
}

@Suite struct IntegrityTests {
    /// Returns each difference as its kind and the last name of its path.
    private func differences(_ installation: Installation, after change: () throws -> Void) throws -> [String] {
        let manifest = try installation.manifest()
        try change()
        return InstalledFiles.differences(from: manifest).map { "\($0.what) \($0.path.split(separator: "/").last ?? "")" }
    }

    @Test("An untouched installation has no differences") func untouchedInstallationIsGood() throws {
        let installation = try Installation()
        #expect(try installation.manifest().entries.count == 5)
        #expect(try differences(installation) {} == [])
    }

    @Test("Each kind of change is reported by the file's name") func changesAreReported() throws {
        var installation = try Installation()
        #expect(try differences(installation) { try installation.write("other", "swift/library") } == ["content library"])
        installation = try Installation()
        #expect(try differences(installation) { try installation.setMode(0o4755, "\(installation.folder)/vauban") } == ["mode vauban"])
        installation = try Installation()
        #expect(try differences(installation) { try installation.remove("\(installation.folder)/vauban") } == ["missing vauban"])
        installation = try Installation()
        #expect(try differences(installation) { try installation.write("planted", "swift/planted.so") } == ["extra planted.so"])
        installation = try Installation()
        #expect(
            try differences(installation) {
                try installation.remove(installation.link)
                try FileManager.default.createSymbolicLink(atPath: installation.link, withDestinationPath: "/bin/sh")
            } == ["target program"])
        installation = try Installation()
        #expect(
            try differences(installation) {
                try installation.remove("\(installation.folder)/vauban")
                try FileManager.default.createSymbolicLink(atPath: "\(installation.folder)/vauban", withDestinationPath: "swift/library")
            } == ["kind vauban"])
    }

    @Test("Files are reported whose folders others can change") func openFoldersAreReported() throws {
        let installation = try Installation()
        let found = try differences(installation) { try installation.setMode(0o777, "\(installation.folder)/swift") }
        #expect(found == ["mode swift", "writable library"])
    }

    @Test("A manifest that others can change is reported") func openManifestIsReported() throws {
        let changes: [(Installation, String) throws -> String] = [
            {
                try $0.setMode(0o664, $1); return "mode integrity"
            },
            {
                try $0.setOwner(65534, $1); return "owner integrity"
            },
        ]
        for change in geteuid() == 0 ? changes : Array(changes.prefix(1)) {
            let installation = try Installation()
            var expected = ""
            let found = try differences(installation) {
                expected = try change(installation, "\(installation.folder)/\(IntegrityManifest.name)")
            }
            #expect(found == [expected])
        }
    }

    @Test("A manifest that is cut off or of another version is refused") func brokenManifestIsRefused() throws {
        let installation = try Installation()
        _ = try installation.manifest()
        try installation.write("vauban integrity 1\nend 1\n", IntegrityManifest.name)
        #expect(throws: ParsingError.self) { try IntegrityManifest.installed(in: installation.folder) }
        try installation.remove("\(installation.folder)/\(IntegrityManifest.name)")
        #expect(try IntegrityManifest.installed(in: installation.folder) == nil)
        // A pipe in its place is not waited for.
        try #require(mkfifo("\(installation.folder)/\(IntegrityManifest.name)", 0o600) == 0)
        #expect(throws: ParsingError.self) { try IntegrityManifest.installed(in: installation.folder) }
    }

    @Test("The report is good unless something is altered, however little the system protects")
    func alteredDecidesTheReport() {
        let lacking = IntegrityCheck(.kernel, "lockdown", is: .notMet, by: "none", root: "do anything", measure: "lockdown=integrity")
        #expect(IntegrityReport([lacking]).good)
        #expect(IntegrityReport([lacking]).text.contains("root can do anything; to stop that: lockdown=integrity"))
        let altered = IntegrityCheck(.vauban, "installed files", is: .notMet, by: "enclaved has other contents", isAltered: true)
        #expect(!IntegrityReport([lacking, altered]).good)
        #expect(IntegrityReport([lacking, altered]).text.contains("ALTERED"))
    }
}

/// What the kernel says, from files such as the kernel's.
@Suite struct KernelCheckTests {
    /// Returns the states of the checks by name, for a kernel with these files.
    private func states(_ files: [String: [UInt8]]) throws -> [String: IntegrityCheck.State] {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("vauban-kernel-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        for (path, content) in files {
            let file = root.appendingPathComponent(path)
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(content).write(to: file)
        }
        return Dictionary(uniqueKeysWithValues: KernelChecks(root: root.path).run().map { ($0.name, $0.state) })
    }

    private static let boot = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

    @Test("A locked-down kernel with Secure Boot meets every check") func lockedDownKernelMeetsAll() throws {
        let states = try states([
            "/sys/kernel/security/lockdown": Array("none integrity [confidentiality]\n".utf8), "/proc/modules": [],
            "/proc/sys/kernel/kexec_load_disabled": Array("1\n".utf8), "/proc/sys/kernel/yama/ptrace_scope": Array("3\n".utf8),
            Self.boot: [6, 0, 0, 0, 1], "/proc/sys/fs/protected_hardlinks": Array("1\n".utf8),
            "/proc/sys/fs/suid_dumpable": Array("0\n".utf8), "/proc/sys/kernel/perf_event_paranoid": Array("3\n".utf8),
            "/proc/sys/kernel/unprivileged_bpf_disabled": Array("2\n".utf8), "/proc/self/ns/user": [],
            "/proc/sys/user/max_user_namespaces": Array("0\n".utf8),
        ])
        #expect(states.count == 9)
        #expect(states.allSatisfy { $0.value == .met }, "\(states)")
    }

    @Test("A kernel without restrictions meets none, and says so") func openKernelMeetsNone() throws {
        let states = try states([
            "/sys/kernel/security/lockdown": Array("[none] integrity confidentiality\n".utf8),
            "/proc/modules": Array("ext4 1 0 - Live 0\n".utf8),
            "/proc/sys/kernel/kexec_load_disabled": Array("0\n".utf8), "/proc/sys/kernel/yama/ptrace_scope": Array("0\n".utf8),
            Self.boot: [6, 0, 0, 0, 0], "/proc/sys/fs/protected_hardlinks": Array("0\n".utf8),
            "/proc/sys/fs/suid_dumpable": Array("1\n".utf8), "/proc/sys/kernel/perf_event_paranoid": Array("1\n".utf8),
            "/sys/module/module/parameters/sig_enforce": Array("N\n".utf8), "/proc/self/ns/user": [],
            "/proc/sys/user/max_user_namespaces": Array("96365\n".utf8),
            "/proc/sys/kernel/unprivileged_userns_clone": Array("1\n".utf8),
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": Array("0\n".utf8),
        ])
        #expect(states.allSatisfy { $0.value == .notMet }, "\(states)")
    }

    @Test("User namespaces count as restricted by each of three measures, or where the kernel has none") func namespacesAreRestricted()
        throws
    {
        let kernel = ["/proc/self/ns/user": [UInt8]()]
        for more in [
            "/proc/sys/user/max_user_namespaces": "0\n", "/proc/sys/kernel/unprivileged_userns_clone": "0\n",
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n",
        ] {
            #expect(try states(kernel.merging([more.key: Array(more.value.utf8)]) { $1 })["no user namespaces"] == .met, "\(more.key)")
        }
        #expect(try states(kernel)["no user namespaces"] == .notMet)
        #expect(try states([:])["no user namespaces"] == .met)
    }

    @Test("Modules count as signed by each of the kernel's three measures, or where it loads none")
    func modulesAreSignedByAnyMeasure() throws {
        let modules = ["/proc/modules": [UInt8]()]
        for more in [
            ["/sys/module/module/parameters/sig_enforce": "Y\n"], ["/proc/sys/kernel/modules_disabled": "1\n"],
            ["/sys/kernel/security/lockdown": "none [integrity] confidentiality\n"],
        ] {
            let files = modules.merging(more.mapValues { Array($0.utf8) }) { $1 }
            #expect(try states(files)["signed modules"] == .met)
        }
        #expect(try states(modules)["signed modules"] == .notMet)
        #expect(try states([:])["signed modules"] == .met)
        #expect(try states([:])["Secure Boot"] == .unknown)
    }
}

@Suite struct MountFactTests {
    /// Returns the check of a writable folder, on a device whose kind the kernel reports as this.
    private func check(_ kind: String?) throws -> IntegrityCheck {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("vauban-mount-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        if let kind {
            var facts = stat()
            #expect(stat(root.path, &facts) == 0)
            // The kernel's numbers of 12 and 20 bits, as glibc joins them.
            let number = UInt64(facts.st_dev)
            let device = "\((number >> 8) & 0xFFF):\((number & 0xFF) | ((number >> 12) & 0xFFF00))"
            let folder = root.appendingPathComponent("sys/dev/block/\(device)/dm")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("\(kind)\n".utf8).write(to: folder.appendingPathComponent("uuid"))
        }
        return MountFacts(path: root.path, root: root.path).check(.vauban, name: "read-only")
    }

    @Test("A folder on dm-verity is protected, and nothing that root can do there is named") func verityProtects() throws {
        let check = try check("CRYPT-VERITY-0123456789abcdef0123456789abcdef-usr")
        #expect(check.state == .met && check.by.hasSuffix("is on dm-verity: the kernel verifies each block"))
        #expect(check.root == nil && check.measure == nil)
    }

    @Test("A writable folder on another device is not protected, whether or not the device is encrypted") func otherDevicesDoNot() throws {
        for kind in [nil, "CRYPT-LUKS2-0123456789abcdef0123456789abcdef-home", "LVM-0123456789abcdef"] {
            let check = try check(kind)
            #expect(check.state == .notMet && check.by.hasSuffix("is on a writable mount"))
            #expect(check.root != nil && check.measure != nil)
        }
    }

    @Test("A folder that does not exist is reported as unknown") func missingFolderIsUnknown() {
        #expect(MountFacts(path: "/nowhere/vauban").check(.vauban, name: "read-only").state == .unknown)
    }
}
