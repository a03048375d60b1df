import Glibc
import VaubanDER
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// The items of the provider of the Secret Service, or of the KWallet, that owns the bus name now. vauban-secret-service reads them, so
/// that the command line needs no bus.
final class ProviderItems {
    /// What the user calls the provider.
    let provider: String
    private var pipe: Descriptor?
    private let child: pid_t

    private static let program = "vauban-secret-service"
    private static let secretBytesMax = 1 << 20

    /// Starts to read. Refused if there is no such provider.
    init(wallets: Bool, mayPrompt: Bool) throws {
        let program = try OwnProgram.path(of: Self.program)
        var ends = try Pipe()
        let pipe = ends.reading
        self.pipe = pipe
        let words = [program, "--read"] + (wallets ? ["--kwallet"] : []) + (mayPrompt ? [] : ["--no-prompt"])
        child = try ChildCommand.spawn(program, words, output: ends.writing?.number)
        ends.endWriting()
        guard case .provider(let name) = try Self.entry(pipe).entry else { throw Self.broken }
        provider = name
    }

    /// A reader that is not done may wait for the user, or for this process to read.
    deinit {
        pipe = nil
        kill(child, SIGTERM)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    }

    /// Calls `body` with each entry that follows, and the item's secret. Throws if the provider fails, or the entries end too early.
    func forEach(_ body: (TransferEntry, borrowing SecretBytes) throws -> Void) throws {
        while let pipe {
            let next = try Self.entry(pipe)
            if case .end = next.entry { return }
            try body(next.entry, next.secret.secret)
        }
    }

    private static var broken: Refusal { Refusal(.unavailable, "the items of the other provider could not be read to the end") }

    private static func entry(_ pipe: Descriptor) throws -> (entry: TransferEntry, secret: SecretBox) {
        let encoded = try bytes(try number(pipe, max: TransferEntry.bytesMax), pipe)
        guard let entry = try? TransferEntry(derBytes: encoded) else { throw broken }
        let secret = try SecretBytes(count: try number(pipe, max: secretBytesMax)) { target in try fill(target, pipe) }
        if case .failure(let why, let number) = entry { throw Refusal(Refusal.Reason(rawValue: number) ?? .unavailable, why) }
        return (entry, SecretBox(secret))
    }

    private static func number(_ pipe: Descriptor, max: Int) throws -> Int {
        let count = try bytes(4, pipe).reduce(0) { $0 << 8 | Int($1) }
        guard count <= max else { throw broken }
        return count
    }

    private static func bytes(_ count: Int, _ pipe: Descriptor) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try bytes.withUnsafeMutableBytes { try fill($0, pipe) }
        return bytes
    }

    private static func fill(_ target: UnsafeMutableRawBufferPointer, _ pipe: Descriptor) throws {
        var count = 0
        while count < target.count {
            let got = read(pipe.number, target.baseAddress?.advanced(by: count), target.count - count)
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { throw broken }
            count += got
        }
    }
}
