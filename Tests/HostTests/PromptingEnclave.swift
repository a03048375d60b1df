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

/// The enclave's socket as far as the witness uses it, with a witness that runs in this process, or the shipped program.
final class PromptingEnclave: Sendable {
    private let folder: TestFolder
    private let connections = Mutex<[Channel]>([])
    private let count = DispatchSemaphore(value: 0)

    /// Without `byItself` a witness works in this process; with it, the test starts one (`start`).
    init(byItself: Bool = false) throws {
        folder = try TestFolder()
        let path = folder.path
        let server = ConnectionServer(listener: try folder.folder.bindSocket("enclave", mode: 0o600)) { _ in true }
        let ends = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            try? server.run(refused: { _, _ in }) { [self] connection in
                guard connection.role == EnclaveRole.witness.rawValue else { return }
                connections.withLock { $0.append(connection.channel) }
                count.signal()
                // From now on the test uses this connection, for as long as the test program runs.
                ends.wait()
            }
        }
        if byItself { return }
        let witness = WitnessRoom(
            enclave: ServerAddress(folder: path, socket: "enclave", serverUID: geteuid()),
            log: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        Thread.detachNewThread { witness.run() }
    }

    /// Starts the shipped program, hardened as always; it runs as long as the result is retained. `user` is its user as in system mode,
    /// without any capability except to inspect other processes.
    func start(_ program: String, as user: UInt32? = nil) throws -> Waiter {
        let words = [program, "--enclave-folder", folder.path, "--enclave-uid", "\(geteuid())"]
        guard let user else { return try Waiter(program, Array(words.dropFirst())) }
        chmod(folder.path, 0o755)
        chmod("\(folder.path)/enclave", 0o666)
        return try Waiter(
            "/usr/bin/setpriv",
            ["--reuid", "\(user)", "--regid", "\(user)", "--clear-groups", "--inh-caps", "+sys_ptrace", "--ambient-caps", "+sys_ptrace"]
                + words)
    }

    /// Returns the next connection that the witness opens.
    func connection() throws -> Channel {
        guard count.wait(timeout: .now() + HangLimit.seconds) == .success else { throw ChannelError.deadline }
        return connections.withLock { $0.removeFirst() }
    }
}

extension Channel {
    /// Asks the witness at the other end for an identity. Asks again while it is unseen, since on a busy machine a witness may begin with a
    /// request only after the enclave has stopped waiting, and then examines nothing.
    func identity(_ request: WitnessRequest, heldBy process: Descriptor) throws -> CallerIdentity {
        let deadline = MachineClock.monotonic + HangLimit.nanoseconds
        while true {
            try send(header: request.encoded(), descriptors: [process])
            let answer = try WitnessAnswer(derBytes: receive(.hanging).header)
            #expect(answer.number == request.number)
            if answer.identity != .unseen || MachineClock.monotonic > deadline { return answer.identity }
        }
    }
}
