import EnclaveWire
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanUserModel
import Witness

/// The identities of real programs, row by row of the table in Specs/caller-identity.md.
@Suite struct CallerStandingTests {
    private static let cat = real("/bin/cat")
    private let witness = CallerWitness()
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static func real(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }

    private func identity(_ pid: Int32) throws -> CallerIdentity {
        try witness.identity(ofProcess: Int64(pid), heldBy: ProcessMonitor(pid).process)
    }

    /// Returns the identity of a `cat`, under any name, that has started far enough to answer.
    private func identity(_ program: String, _ arguments: [String] = [], environment: [String: String]? = nil) throws -> CallerIdentity {
        let process = try Waiter(program, arguments, environment: environment)
        #expect(try process.answers())
        return try identity(process.pid)
    }

    private func copy(_ file: String, as name: String) throws -> String {
        let path = "\(folder.path)/\(name)"
        try ProgramFile.copy(file, to: path)
        return path
    }

    private func needInstalledPrograms() throws {
        if InstalledFile(path: Self.cat) == nil { try Test.cancel("no program counts as installed on this machine") }
    }

    // MARK: Installed

    @Test("A program of root is identified by its path") func rootsProgramIsIdentifiedByPath() throws {
        try needInstalledPrograms()
        let identity = try identity("/bin/cat")
        #expect(identity.standing == .installed && identity.application == .installed(path: Self.cat))
        #expect(identity.chain == [Self.cat] && !identity.throughCommandLine && identity.gap == nil)
        if access("/var/lib/dpkg/info/coreutils.list", R_OK) == 0 { #expect(identity.package == "coreutils") }
    }

    @Test("A symbolic link is identified as its target") func symbolicLinkIsIdentifiedAsItsTarget() throws {
        try needInstalledPrograms()
        let link = "\(folder.path)/link"
        #expect(symlink(Self.cat, link) == 0)
        #expect(try identity(link).application == .installed(path: Self.cat))
    }

    @Test("A hard link in a user's folder is another program") func hardLinkIsAnotherProgram() throws {
        let link = "\(folder.path)/link"
        if Glibc.link(Self.cat, link) != 0 { try Test.cancel("there can be no such link here") }
        #expect(try identity(link).standing == .own)
    }

    @Test("A set-user-ID program of root is identified by its path") func setUserIDProgramIsIdentifiedByPath() throws {
        let roots = try RootsFolder()
        let path = try roots.copy("/bin/cat", as: "program")
        #expect(chmod(path, 0o4755) == 0)
        #expect(try identity(path).application == .installed(path: path))
        #expect(chown(path, 65534, 0) == 0 && chmod(path, 0o4755) == 0)
        #expect(try identity(path).standing == .own)
    }

    /// A user's program under the path of an installed one, as a mount namespace shows it to the process.
    @Test("A user's file that is mounted over an installed path is not installed")
    func fileMountedOverAnInstalledPathIsNotInstalled() throws {
        guard geteuid() == 0 else { try Test.cancel("only root can mount") }
        let own = try copy("/bin/cat", as: "program")
        let tac = Self.real("/usr/bin/tac")
        let process = try Waiter("/usr/bin/unshare", ["-m", "/bin/sh", "-c", "mount --bind \(own) \(tac) && exec \(tac)"])
        guard try process.answers() else { try Test.cancel("it cannot mount here") }
        let identity = try identity(process.pid)
        #expect(identity.executable?.path == tac)
        #expect(identity.standing == .own)
        #expect(try identity.application == .build(digest: #require(identity.executable).digest))
    }

    // MARK: Own

    @Test("A user's program is identified by its content") func usersProgramIsIdentifiedByContent() throws {
        let one = try identity(copy("/bin/cat", as: "one"))
        let two = try identity(copy("/bin/cat", as: "two"))
        #expect(one.standing == .own && one.application != nil && one.application == two.application)
        let changed = "\(folder.path)/three"
        try ProgramFile.write([UInt8](try Data(contentsOf: URL(fileURLWithPath: Self.cat))) + [0], to: changed)
        let three = try identity(changed)
        #expect(three.standing == .own && three.application != one.application)
    }

    /// A path that is too long for a name is not reported.
    @Test("A program whose path is too long for a name has no identity") func tooLongPathIsUnseen() throws {
        let deep = folder.path + String(repeating: "/" + String(repeating: "d", count: 200), count: 6)
        try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
        let process = try Waiter("/bin/sh", ["-c", "cd \(deep) && cp \(Self.cat) program && exec ./program"])
        #expect(try process.answers())
        let identity = try identity(process.pid)
        #expect(identity.standing == .unknown(.unseen) && identity.executable == nil && identity.chain == [""])
    }

    // MARK: Unknown

    @Test("A traced program is unknown") func tracedProgramIsUnknown() throws {
        let probe = "\(BuiltPrograms.folder)/hardening-probe"
        let process = try Waiter(probe, ["trace", "/bin/sh", "-c", "echo $$; exec \(Self.cat)"])
        let pid = try #require(Int32(process.line()))
        #expect(try process.answers())
        let identity = try identity(pid)
        #expect(identity.standing == .unknown(.traced) && identity.executable?.path == Self.cat)
        #expect(identity.application == nil)
        kill(pid, SIGKILL)
    }

    @Test("An interpreter is unknown under its own name") func interpretersAreUnknownUnderTheirName() throws {
        let process = try Waiter("/bin/sh", ["-c", "echo there; read line"])
        #expect(try process.line() == "there")
        let shell = try identity(process.pid)
        #expect(shell.standing == .unknown(.interpreter) && shell.executable?.path == Self.real("/bin/sh"))
        guard access("/usr/bin/python3", X_OK) == 0 else { return }
        let script = "\(folder.path)/script"
        try ProgramFile.write(Array("#!/usr/bin/python3\nprint('there', flush=True)\ninput()\n".utf8), to: script)
        let python = try Waiter(script)
        #expect(try python.line() == "there")
        #expect(try identity(python.pid).standing == .unknown(.interpreter))
    }

    @Test("An interpreter is unknown under another name too") func interpretersAreUnknownUnderAnotherName() throws {
        let path = try copy("/bin/bash", as: "harmless")
        let process = try Waiter(path, ["-c", "echo there; read line"])
        #expect(try process.line() == "there")
        let identity = try identity(process.pid)
        #expect(identity.standing == .unknown(.interpreter) && identity.executable?.path == path)
    }

    @Test("A program that the dynamic loader runs is unknown") func programRunByDynamicLoaderIsUnknown() throws {
        guard
            let loader = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"].first(where: { (path: String) in
                access(path, X_OK) == 0
            })
        else {
            try Test.cancel("the dynamic loader has another name here")
        }
        #expect(try identity(loader, [Self.cat]).standing == .unknown(.interpreter))
        #expect(try identity(copy(loader, as: "harmless"), [Self.cat]).standing == .unknown(.interpreter))
    }

    @Test("A user's preloaded library is foreign code") func usersPreloadedLibraryIsForeignCode() throws {
        try needInstalledPrograms()
        guard let library = try loadedLibrary() else { try Test.cancel("this cat loads no library") }
        let own = try copy(library, as: "preloaded.so")
        let identity = try identity("/bin/cat", environment: ["LD_PRELOAD": own])
        #expect(identity.standing == .unknown(.foreignCode) && identity.executable?.path == Self.cat)
        // A library that root owns is as installed as the program.
        let roots = try RootsFolder()
        let installed = try roots.copy(library, as: "preloaded.so")
        #expect(try self.identity("/bin/cat", environment: ["LD_PRELOAD": installed]).standing == .installed)
        // The user's own program may load any library.
        #expect(try self.identity(copy("/bin/cat", as: "own"), environment: ["LD_PRELOAD": own]).standing == .own)
    }

    @Test("An installed program that may overwrite its code has no identity") func installedProgramWithWritableCodeIsForeignCode() throws {
        let roots = try RootsFolder()
        let path = try roots.copy("/bin/cat", as: "cat")
        #expect(try identity(path).standing == .installed)
        try WritableCode.add(to: path)
        #expect(try identity(path).standing == .unknown(.foreignCode))
    }

    /// The kernel prevents writes to an executed file, but not to the files from which an overlay composes it.
    @Test("A program on an overlay that a user mounted has no identity, and one on root's has")
    func programOnAnOverlayOfTheUsersHasNoIdentity() throws {
        for name in ["lower", "upper", "work", "merged"] {
            try FileManager.default.createDirectory(atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
        }
        let program = try copy("/bin/cat", as: "lower/program")
        let options = "lowerdir=\(folder.path)/lower,upperdir=\(folder.path)/upper,workdir=\(folder.path)/work"
        let mount = "mount -t overlay overlay -o \(options) \(folder.path)/merged"
        let merged = "\(folder.path)/merged/program"
        let mounter = try Waiter(
            "/usr/bin/unshare", ["--user", "--map-root-user", "--mount", "/bin/sh", "-c", "\(mount) && echo mounted && read line"])
        guard try mounter.line() == "mounted" else { try Test.cancel("no overlay can be mounted in a user namespace here") }
        let process = try Waiter("/proc/\(mounter.pid)/root\(merged)")
        #expect(try process.answers())
        let found = try identity(process.pid)
        #expect(found.standing == .unknown(.foreignCode) && found.application == nil)
        #expect(try identity(program).standing == .own)
        mounter.end()
        // As in a container: root's mount, in a mount namespace of the process's.
        let contained = try Waiter("/usr/bin/unshare", ["--mount", "/bin/sh", "-c", "\(mount) && exec \(merged)"])
        guard try contained.answers() else { try Test.cancel("no overlay can be mounted here") }
        #expect(try identity(contained.pid).standing == .own)
    }

    @Test("A program of root's whose library was upgraded or removed cannot be identified until it is started again")
    func deletedLibraryOfRootsIsUnseen() throws {
        guard let library = try loadedLibrary() else { try Test.cancel("this cat loads no library") }
        let roots = try RootsFolder()
        let installed = try roots.copy(library, as: "preloaded.so")
        let process = try Waiter("/bin/cat", environment: ["LD_PRELOAD": installed])
        #expect(try process.answers())
        #expect(try identity(process.pid).standing == .installed)
        #expect(rename(try roots.copy(library, as: "new.so"), installed) == 0)
        #expect(try identity(process.pid).standing == .unknown(.unseen))
        #expect(unlink(installed) == 0)
        let found = try identity(process.pid)
        #expect(found.standing == .unknown(.unseen) && found.executable?.path == Self.cat)
    }

    @Test("A user's preloaded library that was deleted is foreign code, as is one beside an upgraded library of root's")
    func deletedPreloadedLibraryIsForeignCode() throws {
        try needInstalledPrograms()
        guard let library = try loadedLibrary() else { try Test.cancel("this cat loads no library") }
        let own = try copy(library, as: "preloaded.so")
        let process = try Waiter("/bin/cat", environment: ["LD_PRELOAD": own])
        #expect(try process.answers())
        #expect(unlink(own) == 0)
        #expect(try identity(process.pid).standing == .unknown(.foreignCode))
        let roots = try RootsFolder()
        let (other, installed) = (try copy(library, as: "other.so"), try roots.copy(library, as: "preloaded.so"))
        let both = try Waiter("/bin/cat", environment: ["LD_PRELOAD": "\(other):\(installed)"])
        #expect(try both.answers())
        #expect(unlink(installed) == 0)
        #expect(try identity(both.pid).standing == .unknown(.foreignCode))
    }

    /// Returns a library that `cat` loads in any case, so that preloading a copy of it does no harm.
    private func loadedLibrary() throws -> String? {
        let process = try Waiter("/bin/cat")
        #expect(try process.answers())
        let maps = try #require(SmallFile.bytes(path: "/proc/\(process.pid)/maps", max: 1 << 20))
        return MemoryMap.executedCode(in: maps)?.files.compactMap(\.path).first { $0.contains("/libc.") || $0.contains("/libc-") }
    }

    /// In such a namespace a process may choose the name of its executable, so it has no identity.
    @Test("A process in a user namespace of its own has no identity") func processInOwnUserNamespaceHasNoIdentity() throws {
        let process = try Waiter("/usr/bin/unshare", ["--user", "--map-root-user", Self.cat])
        guard try process.answers() else { try Test.cancel("there are no user namespaces here") }
        let identity = try identity(process.pid)
        #expect(identity.standing == .unknown(.foreignCode) && identity.executable?.path == Self.cat)
    }

    // MARK: Packaged

    /// As Flatpak runs it: the application's own folder at /app, in a mount namespace.
    @Test("A Flatpak application is identified by its deployment") func flatpakIsIdentifiedByItsDeployment() throws {
        let name = "org.vauban.Test\(getpid())"
        let deployed = "/var/lib/flatpak/app/\(name)/x86_64/stable/0123/files"
        guard geteuid() == 0 else { try Test.cancel("only root can deploy an application") }
        let made = ["/var/lib/flatpak", "/var/lib/flatpak/app", "/app"].filter { (path: String) in mkdir(path, 0o755) == 0 }
        defer {
            try? FileManager.default.removeItem(atPath: "/var/lib/flatpak/app/\(name)")
            for path in made.reversed() { rmdir(path) }
        }
        try FileManager.default.createDirectory(atPath: "\(deployed)/bin", withIntermediateDirectories: true)
        try ProgramFile.copy("/bin/cat", to: "\(deployed)/bin/viewer")
        try ProgramFile.copy("/bin/bash", to: "\(deployed)/bin/bash")
        func inside(_ source: String, _ command: String) throws -> CallerIdentity {
            let process = try Waiter("/usr/bin/unshare", ["-m", "/bin/sh", "-c", "mount --bind \(source) /app && \(command)"])
            guard try process.answers() else { try Test.cancel("it cannot mount here") }
            return try identity(process.pid)
        }
        let viewer = try inside(deployed, "exec /app/bin/viewer")
        #expect(viewer.standing == .flatpak(name: name) && viewer.executable?.path == "/app/bin/viewer")
        #expect(viewer.application == .flatpak(name))
        let shell = try inside(deployed, "exec /app/bin/bash -c 'read line; echo $line; read line'")
        #expect(shell.standing == .unknown(.interpreter))
        // A folder at the same place that root does not own, regardless of its claims.
        try FileManager.default.createDirectory(atPath: "\(folder.path)/bin", withIntermediateDirectories: true)
        try ProgramFile.copy("/bin/cat", to: "\(folder.path)/bin/viewer")
        #expect(try inside(folder.path, "exec /app/bin/viewer").standing == .own)
        if let library = try loadedLibrary() {
            let own = try copy(library, as: "preloaded.so")
            #expect(try inside(deployed, "LD_PRELOAD=\(own) exec /app/bin/viewer").standing == .unknown(.foreignCode))
        }
        // Outside its sandbox it is an ordinary file.
        #expect(try identity("\(deployed)/bin/viewer").standing == .installed)
    }

    @Test("A snap is identified by its mount") func snapIsIdentifiedByItsMount() throws {
        guard geteuid() == 0, access("/snap", F_OK) != 0, mkdir("/snap", 0o755) == 0 else {
            try Test.cancel("there are real snaps here, or no right")
        }
        defer { try? FileManager.default.removeItem(atPath: "/snap") }
        try FileManager.default.createDirectory(atPath: "/snap/viewer/7/bin", withIntermediateDirectories: true)
        try ProgramFile.copy("/bin/cat", to: "/snap/viewer/7/bin/viewer")
        #expect(try identity("/snap/viewer/7/bin/viewer").application == .snap("viewer"))
        #expect(chown("/snap/viewer/7/bin/viewer", 65534, 0) == 0)
        #expect(try identity("/snap/viewer/7/bin/viewer").standing == .own)
    }

    // MARK: One moment

    /// The program that runs at the time of the request counts: the same process, and another program.
    @Test("A process is identified by the program that it runs now") func processIsIdentifiedByItsPresentProgram() throws {
        let own = try copy("/bin/cat", as: "own")
        let process = try Waiter("/bin/sh", ["-c", "echo there; read line; exec \(own)"])
        #expect(try process.line() == "there")
        #expect(try identity(process.pid).standing == .unknown(.interpreter))
        try process.writeLine("go")
        #expect(try process.answers())
        #expect(try identity(process.pid).standing == .own)
    }

    @Test("A process's own memory map names a file as another process's map does") func ownMapNamesAFileAsAnotherProcesssMapDoes() throws {
        try needInstalledPrograms()
        let process = try Waiter("/bin/cat")
        #expect(try process.answers())
        let maps = try #require(SmallFile.bytes(path: "/proc/\(process.pid)/maps", max: 1 << 20))
        let mapped = try #require(MemoryMap.executedCode(in: maps)?.files.first { $0.path == Self.cat })
        let file = try #require(InstalledFile(path: Self.cat))
        #expect(RootOwnedFiles.ownMapping(of: file.place) == mapped.identity)
        #expect(RootOwnedFiles.is(file, mappedAs: mapped.identity) && !RootOwnedFiles.is(file, mappedAs: "fe:00 1"))
    }
}
