import EnclaveWire
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanDER
import VaubanLinuxHost
import VaubanUserModel
import Witness

/// The program behind Vauban's own command line, which obeys any caller. Other programs represent it, under its name in a folder of the
/// test; this test program starts them.
@Suite struct CommandLineCallerTests {
    private let folder: TestFolder
    private let witness: CallerWitness
    private let commandLine: String
    private let me = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    /// It depends on where the tests are built.
    private var myStanding: CallerIdentity.Standing { InstalledFile(path: me) == nil ? .own : .installed }

    init() throws {
        folder = try TestFolder()
        commandLine = "\(folder.path)/vauban"
        witness = CallerWitness(commandLineFolder: folder.path)
    }

    private func play(_ program: String) throws { try ProgramFile.copy(program, to: commandLine) }

    private func identity(_ pid: Int32) throws -> CallerIdentity {
        try witness.identity(ofProcess: Int64(pid), heldBy: ProcessMonitor(pid).process)
    }

    @Test("The parent of the command line is identified") func parentOfCommandLineIsIdentified() throws {
        try play("/bin/cat")
        let process = try Waiter(commandLine)
        #expect(try process.answers())
        let identity = try identity(process.pid)
        #expect(identity.throughCommandLine && identity.chain == [commandLine, me])
        #expect(identity.executable?.path == me && identity.standing == myStanding)
        #expect(identity.executable?.digest.count == 32)
    }

    @Test(
        "The SSH agent, the Secret Service, the browser's host and the desktop application count as the command line",
        arguments: [
            "vauban-ssh-agent", "vauban-secret-service", "vauban-browser-host", "vauban-desktop",
        ])
    func otherProgramsOfTheCommandLine(name: String) throws {
        let path = "\(folder.path)/\(name)"
        try ProgramFile.copy("/bin/cat", to: path)
        let process = try Waiter(path)
        #expect(try process.answers())
        #expect(try identity(process.pid).throughCommandLine)
    }

    @Test("The command line is recognized by its content, through a link or as a copy") func commandLineIsRecognizedByLinkAndCopy() throws {
        try play("/bin/cat")
        let link = "\(folder.path)/link", copy = "\(folder.path)/copy"
        #expect(Glibc.link(commandLine, link) == 0)
        try ProgramFile.copy(commandLine, to: copy)
        for path in [link, copy] {
            let process = try Waiter(path)
            #expect(try process.answers())
            let identity = try identity(process.pid)
            #expect(identity.throughCommandLine && identity.chain == [path, me])
        }
        // Another content of the same length is another program.
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: copy)))
        bytes[bytes.count - 1] ^= 1
        let other = "\(folder.path)/other"
        try ProgramFile.write(bytes, to: other)
        let process = try Waiter(other)
        #expect(try process.answers())
        let identity = try identity(process.pid)
        #expect(!identity.throughCommandLine && identity.standing == .own)
    }

    /// An upgrade replaces the file.
    @Test("The command line's file is looked up at each request") func commandLineIsLookedUpAtEachRequest() throws {
        try play("/bin/cat")
        let old = try Waiter(commandLine)
        #expect(try old.answers())
        #expect(unlink(commandLine) == 0)
        try play("/usr/bin/tee")
        let new = try Waiter(commandLine)
        #expect(try new.answers())
        #expect(try identity(new.pid).throughCommandLine)
        #expect(try identity(old.pid).standing == .unknown(.unseen))
    }

    @Test("A shell between a program and the command line is unknown") func shellInBetweenIsUnknown() throws {
        try play("/bin/cat")
        let shell = try Waiter("/bin/sh", ["-c", "exec 3<&0; \(commandLine) <&3 & echo $!; wait"])
        let pid = try #require(Int32(shell.line()))
        defer { kill(pid, SIGKILL) }
        #expect(try untilExecuting(pid))
        let identity = try identity(pid)
        #expect(identity.standing == .unknown(.interpreter) && identity.throughCommandLine)
        #expect(identity.chain == [commandLine, URL(fileURLWithPath: "/bin/sh").resolvingSymlinksInPath().path])
    }

    /// Finds the nearest ancestor that is not Vauban's, through several that are, but not through any number.
    @Test("Nested command lines are passed over up to a limit") func nestedCommandLinesAreLimited() throws {
        try play("/usr/bin/timeout")
        for (count, isTold) in [(2, true), (15, true), (16, false)] {
            let words = Array(repeating: [commandLine, "1000"], count: count).flatMap(\.self) + ["/bin/cat"]
            let process = try Waiter(words[0], Array(words.dropFirst()))
            #expect(try process.answers())
            // The innermost is the parent of cat, which answered.
            var innermost = process.pid
            for _ in 1..<count { innermost = try child(of: innermost) }
            let last = try child(of: innermost)
            defer { kill(last, SIGKILL) }
            let identity = try identity(innermost)
            #expect(identity.standing == (isTold ? myStanding : .unknown(.orphan)), "\(count)")
            #expect(identity.chain == Array(repeating: commandLine, count: count) + (isTold ? [me] : []), "\(count)")
        }
    }

    @Test("An orphaned command line is unknown") func orphanIsUnknown() throws {
        try play("/bin/cat")
        let (numbers, input) = (try SocketPair(), try SocketPair())
        let shell = try Child("\(commandLine) <&4 & echo $! >&3", descriptors: [numbers.second, input.second])
        #expect(shell.wait() == 0)
        RawPeer(socket: numbers.second).finish()
        let pid = try #require(Int32(String(decoding: RawPeer(socket: numbers.first).receive(20).dropLast(), as: UTF8.self)))
        defer { kill(pid, SIGKILL) }
        #expect(try untilExecuting(pid))
        let identity = try identity(pid)
        #expect(identity.standing == .unknown(.orphan) && identity.chain == [commandLine] && identity.executable == nil)
        #expect(identity.throughCommandLine)
    }

    /// It cannot be determined whether the parent started that session's program or adopted it.
    @Test("A command line in a session of its own counts as an orphan") func ownSessionCountsAsOrphan() throws {
        try play("/bin/cat")
        let process = try Waiter("/usr/bin/setsid", ["--wait", commandLine])
        #expect(try process.answers())
        // setsid forks only if it is started as the leader of a group.
        let pid = (try? child(of: process.pid)) ?? process.pid
        defer { kill(pid, SIGKILL) }
        #expect(try identity(pid).standing == .unknown(.orphan))
    }

    /// A known limit: parenthood proves nothing. A program that starts the command line and then executes another program appears as that
    /// program.
    @Test("A parent that executes another program appears as that program")
    func parentThatExecutesAnotherProgramAppearsAsThatProgram() throws {
        try play("/bin/cat")
        let other = "\(folder.path)/other"
        try ProgramFile.copy("/usr/bin/tee", to: other)
        let shell = try Waiter("/bin/sh", ["-c", "exec 3<&0; \(commandLine) <&3 & echo $!; exec \(other)"])
        let pid = try #require(Int32(shell.line()))
        defer { kill(pid, SIGKILL) }
        #expect(try untilExecuting(pid) && untilExecuting(shell.pid, other))
        let identity = try identity(pid)
        #expect(identity.standing == .own && identity.chain == [commandLine, other] && identity.throughCommandLine)
    }

    @Test("A traced command line is unknown") func tracedCommandLineIsUnknown() throws {
        try play("/bin/cat")
        let process = try Waiter("\(BuiltPrograms.folder)/hardening-probe", ["trace", "/bin/sh", "-c", "echo $$; exec \(commandLine)"])
        let pid = try #require(Int32(process.line()))
        #expect(try process.answers())
        let identity = try identity(pid)
        #expect(identity.standing == .unknown(.traced) && identity.chain == [commandLine] && identity.throughCommandLine)
        kill(pid, SIGKILL)
    }

    /// The shipped program, beside its own command line, hardened as always, for every kind of answer; the second time as a separate user,
    /// about the programs of a third.
    @Test("The shipped witness gives every kind of reply under its hardening", arguments: [nil, 54321])
    func shippedWitnessRepliesUnderHardening(_ user: UInt32?) throws {
        if user != nil, geteuid() != 0 { try Test.cancel("only root can be several users") }
        try play("/bin/cat")
        try ProgramFile.copy("\(BuiltPrograms.folder)/vauban-witness", to: "\(folder.path)/vauban-witness")
        #expect(chmod(folder.path, 0o755) == 0)
        let enclave = try PromptingEnclave(byItself: true)
        let program = try enclave.start("\(folder.path)/vauban-witness", as: user)
        let connection = try enclave.connection()
        defer { program.end() }
        func ask(_ pid: Int32, _ number: Int64) throws -> CallerIdentity {
            try connection.identity(WitnessRequest(number: number, pid: Int64(pid)), heldBy: ProcessMonitor(pid).process)
        }
        let user =
            user.map { ["/usr/bin/setpriv", "--reuid", "\($0 + 1)", "--regid", "\($0 + 1)", "--clear-groups"] } ?? ["/usr/bin/env"]
        func start(_ words: String...) throws -> Waiter { try Waiter(user[0], Array(user.dropFirst()) + words) }
        let own = "\(folder.path)/own"
        try ProgramFile.copy("/usr/bin/tee", to: own)
        let (installed, owned) = (try start("/usr/bin/tee"), try start(own))
        let shell = try start("/bin/sh", "-c", "echo there; read line")
        let mapped = try Waiter("/usr/bin/unshare", ["-m", "/usr/bin/tee"])
        #expect(try installed.answers())
        #expect(try owned.answers())
        #expect(try shell.line() == "there")
        let isMapped = try mapped.answers()
        for (number, process) in ([installed, shell, owned, installed] + (isMapped ? [mapped] : [])).enumerated() {
            let expected = try identity(process.pid)
            #expect(try ask(process.pid, Int64(number)) == expected)
            #expect(expected.executable != nil)
        }
        if InstalledFile(path: installed.executable) != nil { #expect(try ask(installed.pid, 100).standing == .installed) }
        #expect(try ask(owned.pid, 101).standing == .own)
        let commandLine = try start(self.commandLine)
        #expect(try commandLine.answers())
        let caller = try ask(commandLine.pid, 102)
        #expect(caller.throughCommandLine && caller.chain == [self.commandLine, me] && caller.standing == myStanding)
    }

    // MARK: Real processes

    private func child(of pid: Int32) throws -> Int32 { try #require(Waiter.children(of: pid).last) }

    /// Waits until a process executes the program, and no longer the one that started it.
    private func untilExecuting(_ pid: Int32, _ path: String? = nil) throws -> Bool {
        let deadline = MachineClock.monotonic + HangLimit.nanoseconds
        repeat {
            if (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe")) == path ?? commandLine { return true }
            sched_yield()
        } while kill(pid, 0) == 0 && MachineClock.monotonic < deadline
        return false
    }
}

extension Waiter {
    /// The file that it executes.
    var executable: String { URL(fileURLWithPath: "/proc/\(pid)/exe").resolvingSymlinksInPath().path }
}
