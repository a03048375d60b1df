import CVaubanLinux
import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncCarrierWire

/// A process of vauban-sync-etcd, which uses the network and holds the user's key for it; this program has one end of a socket to it. The
/// process ends when this object is released, or when the thread that created it exits.
final class EtcdHelper: Sendable {
    let stream: FrameStream
    /// The user and the endpoints.
    let description: String
    private let process: Process

    /// Starts the program for an account, the folder that etcd's operator gave the user.
    init(account path: String) throws(Refusal) {
        let program = try InstalledPrograms.path(of: "vauban-sync-etcd")
        do throws(SystemError) {
            let (own, other) = try FrameStream.pair()
            var words: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(path), nil]
            defer { for word in words { free(word) } }
            let started = vauban_spawn_helper(program, &words, [other.number], 1, "carrier")
            withExtendedLifetime(other) {}
            try SystemError.checkNegated(started, "start \(program)")
            process = Process(id: started)
            stream = FrameStream(own, bytesMax: CarrierGrammar.messageBytesMax)
        } catch {
            throw Refusal(.unavailable, error.sentence)
        }
        switch try Self.reply(stream) {
        case .ready(let text): description = SafeText.line(text, max: CarrierReply.textBytesMax)
        case .refused(let fault, let text): throw Self.refusal(fault, text)
        default: throw Self.strange
        }
    }

    func reply() throws(Refusal) -> CarrierReply { try Self.reply(stream) }

    private static func reply(_ stream: FrameStream) throws(Refusal) -> CarrierReply {
        try reply(stream, until: MachineClock.monotonic + replyTime)
    }

    static func reply(_ stream: FrameStream, until deadline: UInt64?) throws(Refusal) -> CarrierReply {
        let bytes: [UInt8]
        do throws(ChannelError) {
            bytes = try stream.receive(until: deadline)
        } catch {
            throw ended
        }
        guard let reply = CarrierReply(bytes: bytes) else { throw strange }
        return reply
    }

    static func refusal(_ fault: CarrierReply.Fault, _ text: String) -> Refusal {
        let reason: Refusal.Reason =
            switch fault {
            case .unreachable: .unavailable
            case .account, .damaged: .badParameter
            case .denied: .notAllowedHere
            case .full: .storageFull
            }
        // The text may quote a server, so make it safe to print.
        return Refusal(reason, SafeText.line(text, max: CarrierReply.textBytesMax))
    }

    static let strange = Refusal(.internalError, "vauban-sync-etcd sent an unexpected reply; install Vauban again")
    static let ended = Refusal(.unavailable, "vauban-sync-etcd ended without an answer; try again")
    /// A little longer than the helper's own timeout (EtcdLimits.operationSeconds). Nanoseconds.
    private static let replyTime: UInt64 = 130_000_000_000

    /// The started process. It is killed and reaped with this object.
    private final class Process: Sendable {
        private let id: pid_t

        init(id: pid_t) { self.id = id }

        deinit {
            kill(id, SIGKILL)
            ChildCommand.waitForEnd(of: id)
        }
    }
}
