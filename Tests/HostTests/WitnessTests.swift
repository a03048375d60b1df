import EnclaveWire
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanDER
import VaubanLinuxHost
import VaubanUserModel
import Witness

/// What the witness reports about real processes, and what it does not.
@Suite struct WitnessTests {
    private let witness = CallerWitness()

    private func identity(of program: Waiter, heldBy process: Descriptor? = nil) throws -> CallerIdentity {
        try witness.identity(ofProcess: Int64(program.pid), heldBy: process ?? ProcessMonitor(program.pid).process)
    }

    @Test("A process is identified by its executable") func processIsIdentifiedByItsExecutable() throws {
        let program = try Waiter("/bin/cat")
        let executable = try #require(identity(of: program).executable)
        let real = URL(fileURLWithPath: "/bin/cat").resolvingSymlinksInPath().path
        var information = stat()
        #expect(stat(real, &information) == 0)
        #expect(executable.path == real)
        #expect(executable.inode == Int64(information.st_ino) && executable.device == Int64(information.st_dev))
        #expect(try hexadecimal(executable.digest) == digest(of: real))
    }

    /// It reports the file that runs, not the one that now has its path; but the running file has no name by which it could be identified.
    @Test("A replaced executable is reported as the one that runs") func replacedExecutableIsIdentifiedAsTheRunningOne() throws {
        let folder = try TestFolder()
        let path = "\(folder.path)/program"
        try ProgramFile.copy("/bin/cat", to: path)
        let program = try Waiter(path)
        #expect(unlink(path) == 0)
        try Data("another program".utf8).write(to: URL(fileURLWithPath: path))
        let found = try identity(of: program)
        let executable = try #require(found.executable)
        #expect(executable.path == "\(path) (deleted)")
        #expect(try hexadecimal(executable.digest) == digest(of: "/bin/cat"))
        #expect(found.standing == .unknown(.unseen) && found.application == nil)
    }

    @Test("An interpreter that was replaced while it runs is still an interpreter") func replacedInterpreterIsAnInterpreter() throws {
        let folder = try TestFolder()
        let path = "\(folder.path)/python3"
        try ProgramFile.copy("/bin/cat", to: path)
        let program = try Waiter(path)
        #expect(unlink(path) == 0)
        #expect(try identity(of: program).standing == .unknown(.interpreter))
    }

    @Test("A program whose name ends like that of a deleted file has no identity", arguments: ["", "\u{600}", "\u{301}"])
    func nameEndingInDeletedIsUnseen(_ sign: String) throws {
        let folder = try TestFolder()
        let path = "\(folder.path)/program\(sign) (deleted)"
        try ProgramFile.copy("/bin/cat", to: path)
        let found = try identity(of: try Waiter(path))
        #expect(found.executable.map { Array($0.path.utf8) } == Array(path.utf8))
        #expect(found.standing == .unknown(.unseen) && found.application == nil)
    }

    @Test("An interpreter's name is compared by bytes", arguments: ["python3\u{301}", "python\u{301}3"])
    func anInterpretersNameIsItsBytes(_ name: String) throws {
        let folder = try TestFolder()
        let path = "\(folder.path)/\(name)"
        try ProgramFile.copy("/bin/cat", to: path)
        #expect(try identity(of: try Waiter(path)).standing == .unknown(.interpreter))
    }

    @Test("An ended process has no identity") func endedProcessHasNoIdentity() throws {
        let program = try Waiter("/bin/cat")
        let process = try ProcessMonitor(program.pid).process
        program.end()
        #expect(try identity(of: program, heldBy: process) == .unseen)
    }

    @Test("The number and the descriptor must name the same process") func theNumberAndTheDescriptorMustNameTheSameProcess() throws {
        let one = try Waiter("/bin/cat")
        let other = try Waiter("/bin/cat")
        #expect(try identity(of: one, heldBy: ProcessMonitor(other.pid).process) == .unseen)
        #expect(try identity(of: one, heldBy: SealedMemory.make([1])) == .unseen)
    }

    /// The status of a process shows the tracer of its first thread alone.
    @Test("A tracer of any thread is detected") func tracersOfAnyThreadAreDetected() throws {
        guard access("/usr/bin/python3", X_OK) == 0 else { try Test.cancel("there is no python3 here") }
        let script = """
            import ctypes, os, signal, sys, threading
            ptrace = ctypes.CDLL(None).ptrace
            ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                def second():
                    os.write(writing, b'%d\\n' % threading.get_native_id())
                    threading.Event().wait()
                threading.Thread(target=second).start()
                signal.pause()
            thread = int(os.fdopen(reading).readline())
            seize = 0x4206
            print(child, ptrace(seize, thread, None, None) if sys.argv[1] == 'traced' else 0, flush=True)
            sys.stdin.read()
            """
        for isTraced in [false, true] {
            let tracer = try Waiter("/usr/bin/python3", ["-c", script, isTraced ? "traced" : "left alone"])
            let words = try tracer.line().split(separator: " ")
            let child = try #require(words.first.flatMap { Int32($0) })
            guard words.last == "0" else { try Test.cancel("nothing can be traced here") }
            #expect(ProcessStatus(of: child)?.tracer == 0)
            #expect(Tracers.areAttached(to: child) == isTraced)
            let standing = try witness.identity(ofProcess: Int64(child), heldBy: ProcessMonitor(child).process).standing
            #expect(standing == .unknown(isTraced ? .traced : .interpreter))
        }
    }

    @Test("The witness answers requests, and malformed ones end the connection")
    func requestsAreAnsweredAndMalformedOnesEndTheConnection() throws {
        let enclave = try PromptingEnclave()
        let program = try Waiter("/bin/cat")
        #expect(try program.answers())
        let process = try ProcessMonitor(program.pid).process
        let connection = try enclave.connection()
        let answer = try connection.identity(WitnessRequest(number: 7, pid: Int64(program.pid)), heldBy: process)
        #expect(try answer == identity(of: program, heldBy: process) && answer.application != nil)
        try connection.send(header: WitnessRequest(number: 8, pid: Int64(program.pid) + 1).encoded(), descriptors: [process])
        #expect(try WitnessAnswer(derBytes: connection.receive(.hanging).header) == WitnessAnswer(number: 8, identity: .unseen))
        // Without the process's descriptor, nothing verifies the number.
        try connection.send(header: WitnessRequest(number: 9, pid: Int64(program.pid)).encoded())
        #expect(throws: ChannelError.self) { try connection.receive(.hanging).header }
        let next = try enclave.connection()
        #expect(try next.identity(WitnessRequest(number: 10, pid: Int64(program.pid)), heldBy: process).executable != nil)
    }

    private func digest(of path: String) throws -> String {
        String(try BuiltPrograms.run("/usr/bin/sha256sum", [path]).output.prefix(64))
    }
}
