import Glibc
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanSecretBytes

/// The standard output, to which entries are written: each as its length in four bytes, its DER, the length of the secret in four bytes,
/// and the secret.
struct TransferReport {
    func write(_ entry: TransferEntry, secret: SharedSecret? = nil) throws {
        let encoded = try entry.encoded()
        try write(Self.number(encoded.count) + encoded + Self.number(secret?.bytes.count ?? 0))
        try secret?.bytes.withUnsafeBytes { try Self.write($0) }
    }

    /// Reports what `read` reads from the bus, or why it cannot be read. Throws only if the report has a reader and cannot be written.
    func reporting(
        failure sentence: (BusError) -> String = { "the provider failed: \($0.line)" }, _ read: (TransferReport) throws -> Void
    ) throws {
        do {
            do { try read(self) } catch let refusal as Refusal {
                try write(.failure(refusal.detail ?? "", number: refusal.reason.rawValue))
            } catch let failure as BusError {
                try write(.failure(sentence(failure), number: Refusal.Reason.unavailable.rawValue))
            } catch let error as SystemError where error.attempt != Self.attempt {
                try write(.failure("the session bus failed: \(error)", number: Refusal.Reason.unavailable.rawValue))
            }
        } catch let error as SystemError where error.attempt == Self.attempt && error.code == EPIPE {
            // The program that started this one has ended, or reads no more.
        }
    }

    private static let attempt = "report items"
    /// The error of a write after the reader of the report has closed its end.
    static let unread = SystemError(attempt, code: EPIPE)

    /// Ignores the signals that end the reader of the report, such as Ctrl-C, which reach both processes. This process then notices that
    /// its report has no reader, and restores what it changed at the other provider before it exits.
    static func endAfterReader() { for number in [SIGINT, SIGQUIT, SIGHUP, SIGTERM] { signal(number, SIG_IGN) } }

    /// Returns a text of the provider as one line that fits into an entry.
    static func line(_ text: String) -> String { PlainLine.of(text, charactersMax: 200, bytesMax: TransferEntry.textBytesMax / 2) }

    private func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try Self.write($0) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        var count = 0
        while count < bytes.count {
            let written = Glibc.write(STDOUT_FILENO, bytes.baseAddress?.advanced(by: count), bytes.count - count)
            if written < 0, errno == EINTR { continue }
            try SystemError.check(Int32(clamping: written), attempt)
            count += written
        }
    }

    private static func number(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { Array($0) } }
}
