import Glibc
import VaubanDER
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// What vauban-secret-service, started as a child, reports about the session bus, so that the command line itself does not use the bus.
final class BusReport {
    private var pipe: Descriptor?
    private let child: pid_t
    /// The subject of the report, for errors.
    private let subject: String
    private let cancellation: CallCancellation?
    /// Whether the child may have to restore the state of another provider before it ends.
    private let putsBack: Bool

    private static let program = "vauban-secret-service"
    private static let secretBytesMax = 1 << 20
    /// The interval, in milliseconds, at which the wait for a report checks for a cancellation.
    private static let checkMilliseconds: Int32 = 100
    /// The longest time, in milliseconds, for a child to restore that state.
    private static let endMilliseconds: Int32 = 5000

    /// A cancellation ends the child with this object.
    init(_ options: [String], of subject: String, putsBack: Bool = false, cancellation: CallCancellation? = nil) throws {
        let program = try InstalledPrograms.path(of: Self.program)
        var ends = try Pipe()
        pipe = ends.reading
        self.subject = subject
        self.cancellation = cancellation
        self.putsBack = putsBack
        child = try ChildCommand.spawn(program, [program] + options, output: ends.writing?.number)
        ends.endWriting()
    }

    /// An unfinished child may be waiting for the user, or for this process to read. It notices that the pipe is closed, and locks what it
    /// had another provider unlock.
    deinit {
        pipe = nil
        if !putsBack || !endsByItself { kill(child, SIGKILL) }
        ChildCommand.waitForEnd(of: child)
    }

    private var endsByItself: Bool {
        guard let process = try? ProcessDescriptor.open(child) else { return false }
        var waiting = pollfd(fd: process.number, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, Self.endMilliseconds) > 0
    }

    /// Returns the next entry, and the secret that follows it. Throws the failure, if the report ends with one.
    func next() throws -> (entry: TransferEntry, secret: SecretBox) {
        guard let pipe else { throw broken }
        let encoded = try bytes(try number(pipe, max: TransferEntry.bytesMax), pipe)
        guard let entry = try? TransferEntry(derBytes: encoded) else { throw broken }
        let secret = try SecretBytes(count: try number(pipe, max: Self.secretBytesMax)) { target in try fill(target, pipe) }
        if case .failure(let why, let number) = entry { throw Refusal(Refusal.Reason(rawValue: number) ?? .unavailable, why) }
        return (entry, SecretBox(secret))
    }

    var broken: Refusal { Refusal(.unavailable, "\(subject) could not be read to the end") }

    private func number(_ pipe: Descriptor, max: Int) throws -> Int {
        let count = try bytes(4, pipe).reduce(0) { $0 << 8 | Int($1) }
        guard count <= max else { throw broken }
        return count
    }

    private func bytes(_ count: Int, _ pipe: Descriptor) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try bytes.withUnsafeMutableBytes { try fill($0, pipe) }
        return bytes
    }

    /// Waits until something can be read, if the wait can be cancelled.
    private func waitForReport(_ pipe: Descriptor) throws {
        guard let cancellation else { return }
        var waiting = pollfd(fd: pipe.number, events: Int16(POLLIN), revents: 0)
        repeat {
            guard !cancellation.isCancelled else { throw Refusal(.cancelled) }
            waiting.revents = 0
        } while poll(&waiting, 1, Self.checkMilliseconds) == 0
    }

    private func fill(_ target: UnsafeMutableRawBufferPointer, _ pipe: Descriptor) throws {
        var count = 0
        while count < target.count {
            try waitForReport(pipe)
            let got = read(pipe.number, target.baseAddress?.advanced(by: count), target.count - count)
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { throw broken }
            count += got
        }
    }
}
