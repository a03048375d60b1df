import EnclaveWire
import Foundation
import Glibc
import Logging
import Synchronization
import TestSupport
import Testing
import VaubanDER
import VaubanLinuxHost
import Witness

/// What the witness tells of real processes, and what it does not.
@Suite struct WitnessTests {
    @Test func aProcessIsItsExecutable() throws {
        let program = try Waiter("/bin/cat")
        let identity = try #require(ExecutableWitness.identity(ofProcess: Int64(program.pid), heldBy: ProcessWatch(program.pid).process))
        let real = URL(fileURLWithPath: "/bin/cat").resolvingSymlinksInPath().path
        var information = stat()
        #expect(stat(real, &information) == 0)
        #expect(identity.path == real)
        #expect(identity.inode == Int64(information.st_ino) && identity.device == Int64(information.st_dev))
        #expect(try hexadecimal(identity.digest) == digest(of: real))
    }

    @Test func aReplacedExecutableIsTheOneThatRuns() throws {
        let folder = try TestFolder()
        let path = "\(folder.path)/program"
        try FileManager.default.copyItem(atPath: "/bin/cat", toPath: path)
        let program = try Waiter(path)
        #expect(unlink(path) == 0)
        try Data("another program".utf8).write(to: URL(fileURLWithPath: path))
        let identity = try #require(ExecutableWitness.identity(ofProcess: Int64(program.pid), heldBy: ProcessWatch(program.pid).process))
        #expect(identity.path == "\(path) (deleted)")
        #expect(try hexadecimal(identity.digest) == digest(of: "/bin/cat"))
    }

    @Test func aProcessThatHasEndedIsNobody() throws {
        let program = try Waiter("/bin/cat")
        let process = try ProcessWatch(program.pid).process
        program.end()
        #expect(ExecutableWitness.identity(ofProcess: Int64(program.pid), heldBy: process) == nil)
    }

    @Test func theNumberAndTheDescriptorMustNameTheSameProcess() throws {
        let one = try Waiter("/bin/cat")
        let other = try Waiter("/bin/cat")
        #expect(ExecutableWitness.identity(ofProcess: Int64(one.pid), heldBy: try ProcessWatch(other.pid).process) == nil)
        let file = try SealedMemory.make([1])
        #expect(ExecutableWitness.identity(ofProcess: Int64(one.pid), heldBy: file) == nil)
    }

    @Test func questionsAreAnsweredOverTheLineAndBadOnesEndIt() throws {
        let enclave = try QuestioningEnclave()
        let program = try Waiter("/bin/cat")
        let process = try ProcessWatch(program.pid).process
        let line = try enclave.line()
        try line.send(header: WitnessQuestion(number: 7, pid: Int64(program.pid)).encoded(), descriptors: [process])
        let answer = try WitnessAnswer(derBytes: line.receive(.machine).header)
        #expect(answer.number == 7)
        #expect(answer.identity.executable == ExecutableWitness.identity(ofProcess: Int64(program.pid), heldBy: process))
        try line.send(header: WitnessQuestion(number: 8, pid: Int64(program.pid) + 1).encoded(), descriptors: [process])
        #expect(try WitnessAnswer(derBytes: line.receive(.machine).header) == WitnessAnswer(number: 8, identity: .unseen))
        // Without the process there is nothing to check the number by.
        try line.send(header: WitnessQuestion(number: 9, pid: Int64(program.pid)).encoded())
        #expect(throws: ChannelFault.self) { try line.receive(.machine).header }
        let next = try enclave.line()
        try next.send(header: WitnessQuestion(number: 10, pid: Int64(program.pid)).encoded(), descriptors: [process])
        #expect(try WitnessAnswer(derBytes: next.receive(.machine).header).identity.executable != nil)
    }

    private func digest(of path: String) throws -> String {
        String(try BuiltPrograms.run("/usr/bin/sha256sum", [path]).output.prefix(64))
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

/// The enclave's door as far as the witness uses it, with a witness that runs in this process.
private final class QuestioningEnclave: Sendable {
    private let folder: TestFolder
    private let lines = Mutex<[Channel]>([])
    private let count = DispatchSemaphore(value: 0)

    init() throws {
        folder = try TestFolder()
        let door = Doorway(listener: try folder.folder.bindSocket("enclave", mode: 0o600)) { _ in true }
        let ends = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            try? door.run(refused: { _, _ in }) { [self] visitor in
                guard visitor.role == EnclaveRole.witness.rawValue else { return }
                lines.withLock { $0.append(visitor.channel) }
                count.signal()
                // The test speaks on this line now, for as long as the test program runs.
                ends.wait()
            }
        }
        let witness = WitnessRoom(
            enclave: ServerAddress(folder: folder.path, socket: "enclave", serverUID: geteuid()),
            log: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        Thread.detachNewThread { witness.run() }
    }

    /// The next line that the witness opens.
    func line() throws -> Channel {
        guard count.wait(timeout: .now() + 10) == .success else { throw ChannelFault.deadline }
        return lines.withLock { $0.removeFirst() }
    }
}
