internal import CVaubanLinux
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanLinuxHost

/// The real launcher with the real rooms, in a separate folder.
@Suite struct LauncherTests {
    /// A service in a folder, started as a client would start it, and stopped at the end.
    private final class Running {
        let service: Service
        let home: String
        private let outer: TestFolder

        init(below: String = "home") throws {
            outer = try TestFolder()
            home = "\(outer.path)/\(below)"
            let environment = ServiceEnvironment(namedHome: home, userHome: nil, runtimeFolder: nil)
            service = Service.own(.named(home: home), home: home, environment)
            try ServiceFile.write(launcher: BuiltPrograms.launcher, in: try PrivateFolder(path: home, creating: true))
            #expect(try start())
        }

        deinit { _ = try? stop() }

        /// Starts the service; again if the machine is busy for longer than a client waits. The launcher that was then given up may still
        /// be starting, and the next one gives up too if that takes long.
        func start() throws -> Bool {
            let deadline = MachineClock.monotonic + HangLimit.nanoseconds
            var wasLate = false
            while true {
                do throws(SystemError) {
                    if try ServiceStarter.start(service) { return true }
                    guard wasLate, MachineClock.monotonic < deadline else { return false }
                } catch {
                    guard error.code == ETIMEDOUT, MachineClock.monotonic < deadline else { throw error }
                    wasLate = true
                }
            }
        }

        func stop() throws -> Bool { try LauncherControl.stop(home: home, within: HangLimit.nanoseconds) }
        func connect(to address: ServerAddress) throws -> Channel { try address.connect(within: HangLimit.nanoseconds) }

        var words: [String] { ["--home", home, "--sockets", service.sockets] }

        /// Returns the process that listens on a socket, after its handshake: the kernel names the one that called `listen` last.
        func process(behind address: ServerAddress) throws -> Int32 {
            _ = try connect(to: address)
            return try Peer(ofConnection: connect(to: address).socket, usePeerDescriptor: false).pid
        }
    }

    @Test("The service starts, accepts connections and stops") func serviceStartsRepliesAndStops() throws {
        let running = try Running()
        #expect(LauncherControl.isRunning(home: running.home))
        _ = try running.connect(to: running.service.authenticationAddress)
        _ = try running.connect(to: running.service.keychainAddress)
        for name in ["enclave", "keychain", "authentication"] {
            #expect(try mode(of: "\(running.service.sockets)/\(name)") == S_IFSOCK | 0o600)
        }
        for folder in [running.home, "\(running.home)/enclave", "\(running.home)/keychain", running.service.sockets] {
            #expect(try mode(of: folder) == S_IFDIR | 0o700)
        }
        #expect(try mode(of: "\(running.home)/vauban.log") == S_IFREG | 0o600)
        #expect(try running.stop())
        #expect(!LauncherControl.isRunning(home: running.home))
        #expect(try FileManager.default.contentsOfDirectory(atPath: running.service.sockets) == [])
        #expect(try !running.stop())
        // Once more, in the same folder.
        #expect(try running.start())
        _ = try running.connect(to: running.service.authenticationAddress)
    }

    /// The others would use the processors that the rooms need for the first reply to a client.
    @Test("The enclave and keychaind start before the other rooms") func enclaveAndKeychainStartBeforeTheOthers() throws {
        let running = try Running()
        let launcher = try startTicks(#require(LauncherControl.running(home: running.home)).pid)
        let keychain = try startTicks(running.process(behind: running.service.keychainAddress))
        let authentication = try startTicks(running.process(behind: running.service.authenticationAddress))
        #expect(authentication >= keychain)
        // The 40 ms, which are four ticks, count from the launcher's start, since a busy machine may start keychaind late.
        #expect(authentication >= launcher + 4)
    }

    @Test("The service works below a long path") func longPathsWork() throws {
        let running = try Running(below: String(repeating: "a-folder-with-a-long-name/", count: 12) + "home")
        _ = try running.connect(to: running.service.authenticationAddress)
    }

    @Test("A killed room is restarted") func killedRoomIsRestarted() throws {
        let running = try Running()
        for address in [running.service.authenticationAddress, running.service.keychainAddress] {
            let before = try running.process(behind: address)
            let watch = try ProcessMonitor(before)
            #expect(kill(before, SIGKILL) == 0 && watch.ends())
            let after = try running.process(behind: address)
            #expect(after != before)
            #expect(kill(after, 0) == 0)
        }
    }

    @Test("A room's environment names only its sockets", .enabled(if: geteuid() == 0, "only root can read this of a hardened room"))
    func roomsEnvironmentNamesOnlyItsSockets() throws {
        let running = try Running()
        let room = try running.process(behind: running.service.authenticationAddress)
        let text = try #require(SmallFile.text(path: "/proc/\(room)/environ", max: 4096))
        let names = text.split(separator: "\0").map { $0.prefix { $0 != "=" } }
        #expect(names.sorted() == ["LISTEN_FDNAMES", "LISTEN_FDS", "LISTEN_PID"])
    }

    @Test("Rooms end with their launcher") func roomsDieWithTheirLauncher() throws {
        let running = try Running()
        let room = try running.process(behind: running.service.authenticationAddress)
        let number = try #require(LauncherControl.running(home: running.home)?.pid)
        let watch = try ProcessMonitor(room)
        #expect(kill(number, SIGKILL) == 0)
        #expect(watch.ends())
        // Leftovers do not matter.
        #expect(try running.start())
        _ = try running.connect(to: running.service.authenticationAddress)
    }

    @Test("A second launcher exits, and its starter is served by the first") func secondLauncherExitsAndItsStarterIsServed() throws {
        let running = try Running()
        let room = try running.process(behind: running.service.authenticationAddress)
        let second = try BuiltPrograms.run(BuiltPrograms.launcher, running.words)
        #expect(second.status == 75)
        #expect(second.output.contains("already running for \(running.home)"))
        #expect(try running.start())
        #expect(try running.process(behind: running.service.authenticationAddress) == room)
        let elsewhere = try BuiltPrograms.run(BuiltPrograms.launcher, ["--home", running.home, "--sockets", "\(running.home)/other"])
        #expect(elsewhere.status == 75)
        #expect(elsewhere.output.contains("with its sockets in \(running.service.sockets)"))
    }

    @Test("Unsafe folders are refused") func unsafeFoldersAreRefused() throws {
        let outer = try TestFolder()
        let home = "\(outer.path)/home"
        let open = "\(outer.path)/open"
        #expect(mkdir(open, 0o700) == 0 && chmod(open, 0o755) == 0)
        let link = "\(outer.path)/link"
        #expect(mkdir("\(outer.path)/target", 0o700) == 0 && symlink("\(outer.path)/target", link) == 0)
        for words in [["--home", open, "--sockets", home], ["--home", link, "--sockets", home], ["--home", home, "--sockets", open]] {
            let result = try BuiltPrograms.run(BuiltPrograms.launcher, words)
            #expect(result.status == 1, "\(words)")
            #expect(result.output.contains(words.contains(link) ? "link" : "is not safe to use"))
        }
    }

    @Test("Another user's folder is refused", .enabled(if: geteuid() == 0, "only root can make a folder of another"))
    func anotherUsersFolderIsRefused() throws {
        let outer = try TestFolder()
        let foreign = "\(outer.path)/foreign"
        #expect(mkdir(foreign, 0o700) == 0 && chown(foreign, 65534, 65534) == 0)
        let result = try BuiltPrograms.run(BuiltPrograms.launcher, ["--home", foreign, "--sockets", "\(foreign)/run"])
        #expect(result.status == 1)
        #expect(result.output.contains("it belongs to user 65534"))
    }

    @Test("Invalid arguments are a usage error") func invalidArgumentsAreAUsageError() throws {
        #expect(try BuiltPrograms.run(BuiltPrograms.launcher, ["--home", "relative"]).status == 64)
    }

    @Test("A stale record names no launcher") func staleRecordNamesNoLauncher() throws {
        let outer = try TestFolder()
        try DurableFile(LauncherControl.lockName, in: outer.folder).replace(with: Array("launcher 1 0\nsockets /s\nready\n".utf8))
        #expect(!LauncherControl.isRunning(home: outer.path))
        // The lock is held, but not by the process in the record: a reused number is not signaled.
        let lock = try #require(try outer.folder.lock(LauncherControl.lockName))
        #expect(LauncherControl.isRunning(home: outer.path))
        #expect(LauncherControl.running(home: outer.path) == nil)
        #expect(throws: SystemError.self) { try LauncherControl.stop(home: outer.path, within: 0) }
        withExtendedLifetime(lock) {}
    }

    @Test("A launcher that has taken the lock is stopped once it has written its record") func startingLauncherIsStopped() throws {
        let running = try Running()
        let home = running.home
        let file = "\(home)/\(LauncherControl.lockName)"
        let text = try #require(SmallFile.text(path: file, max: 4096))
        #expect(truncate(file, 0) == 0)
        let stopping = Background {
            ThreadProbe.nameThread("stopping")
            return try LauncherControl.stop(home: home, within: HangLimit.nanoseconds)
        }
        #expect(ThreadProbe.waitUntilPolling("stopping"))
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        #expect(try stopping.value())
    }

    @Test("A launcher starts nothing if its starter has ended") func abandonedLauncherStartsNothing() throws {
        let outer = try TestFolder()
        let home = "\(outer.path)/home"
        #expect(mkdir(home, 0o700) == 0)
        let words = ["--home", home, "--sockets", "\(home)/run", "--ready-descriptor", "3"]
        var ends: [Int32] = [0, 0]
        try SystemError.checkNegated(vauban_pipe(&ends), "make a pipe")
        close(ends[0])
        // A process that another thread starts has the reading end too, until it executes its own program.
        var poller = pollfd(fd: ends[1], events: 0, revents: 0)
        try #require(poll(&poller, 1, HangLimit.milliseconds) == 1)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "exec \"$0\" \"$@\" 3>&1 1>&2", BuiltPrograms.launcher] + words
        process.standardOutput = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        try process.run()
        // A process that has already ended cannot be opened.
        let monitor = try? ProcessMonitor(process.processIdentifier)
        #expect(monitor?.ends() ?? true)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home) == [])
    }

    @Test("A launcher that a program starts for itself creates no folder") func startOnDemandCreatesNoFolder() throws {
        let outer = try TestFolder()
        let home = "\(outer.path)/home"
        let words = ["--home", home, "--sockets", "\(home)/run", "--ready-descriptor", "3"]
        let result = try BuiltPrograms.run("/bin/sh", ["-c", "exec \"$0\" \"$@\" 3>&1", BuiltPrograms.launcher] + words)
        #expect(result.status == 1)
        #expect(result.output.contains("Could not open the folder \(home)"))
        #expect(!FileManager.default.fileExists(atPath: home))
    }

    private func mode(of path: String) throws -> mode_t {
        var information = stat()
        try SystemError.check(lstat(path, &information), "look at \(path)")
        return information.st_mode & (S_IFMT | 0o777)
    }

    /// Returns when a process started, in hundredths of a second since the machine's start (`/proc/PID/stat`, proc(5)).
    private func startTicks(_ process: Int32) throws -> Int {
        let text = try #require(SmallFile.text(path: "/proc/\(process)/stat", max: 4096))
        let afterName = try #require(text.split(separator: ") ").last).split(separator: " ")
        return try #require(Int(afterName[19]))
    }
}
