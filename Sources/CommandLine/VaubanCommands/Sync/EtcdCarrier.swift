import CVaubanLinux
import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncCarrierWire

/// The files of a circle in etcd. Another program, vauban-sync-etcd, has the network and the user's key for it; this one sees a socket.
final class EtcdCarrier: SyncCarrier {
    let place: String
    let description: String
    private let stream: FrameStream
    /// Whether a reply was missing or unexpected, after which a further one could be to an earlier request.
    private var hasEnded = false

    /// Starts the program for an account, the folder that etcd's operator gave the user.
    init(account path: String) throws(Refusal) {
        place = SyncPlace.place(ofAccount: path)
        let stream = try Self.start(path)
        self.stream = stream
        switch try Self.reply(stream) {
        case .ready(let text): description = SafeText.line(text, max: CarrierReply.textBytesMax)
        case .refused(let fault, let text): throw Self.refusal(fault, text)
        default: throw Self.strange
        }
    }

    /// It ends with this process, and with the socket.
    private static func start(_ path: String) throws(Refusal) -> FrameStream {
        let program = try OwnProgram.path(of: "vauban-sync-etcd")
        do throws(SystemError) {
            let (own, other) = try FrameStream.pair()
            var words: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(path), nil]
            defer { for word in words { free(word) } }
            let started = vauban_spawn_helper(program, &words, [other.number], 1, "carrier")
            withExtendedLifetime(other) {}
            try SystemError.checkNegated(started, "start \(program)")
            return FrameStream(own, bytesMax: CarrierGrammar.messageBytesMax)
        } catch {
            throw Refusal(.unavailable, "\(error)")
        }
    }

    func names(in section: SyncFolder.Section) throws(Refusal) -> [String] {
        guard case .names(let names) = try ask(.names, section) else { throw end(Self.strange) }
        return names.filter(section.accepts).sorted()
    }

    func read(_ name: String, in section: SyncFolder.Section) throws(Refusal) -> [UInt8]? {
        switch try ask(.read, section, name) {
        case .file(let bytes): return bytes
        case .absent: return nil
        default: throw end(Self.strange)
        }
    }

    func add(_ bytes: [UInt8], named name: String, in section: SyncFolder.Section) throws(Refusal) {
        switch try ask(.add, section, name, bytes) {
        case .done: return
        case .taken: throw SyncFolder.taken("\(section.path)/\(name)")
        default: throw end(Self.strange)
        }
    }

    func replace(_ bytes: [UInt8], named name: String, in section: SyncFolder.Section) throws(Refusal) {
        guard case .done = try ask(.replace, section, name, bytes) else { throw end(Self.strange) }
    }

    func remove(_ name: String, in section: SyncFolder.Section) {
        if let reply = try? ask(.remove, section, name), reply != .done { hasEnded = true }
    }

    var remedyForMissingFiles: String { "Ask the operator of etcd whether an older copy was restored" }

    func remedyForForeignFile(_ name: String, in section: SyncFolder.Section) -> String {
        // The program says first who the user is (CarrierReply.ready).
        let user = description.prefix { $0 != " " }
        return "ask the operator of etcd to delete /vauban/1/\(user)/files/\(section.path)/\(name)"
    }

    // MARK: Asking

    private func ask(
        _ operation: CarrierRequest.Operation, _ section: SyncFolder.Section, _ name: String = "", _ file: [UInt8] = []
    ) throws(Refusal) -> CarrierReply {
        guard let request = CarrierRequest(operation, section.path, name, file: file) else {
            throw Refusal(.internalError, "a file of vauban sync has a wrong name, or is too long")
        }
        guard !hasEnded else { throw Self.ended }
        do throws(FrameStream.FrameError) {
            try stream.send(request.bytes, until: MachineClock.monotonic + Self.sendingTime)
        } catch {
            throw end(Self.ended)
        }
        let reply: CarrierReply
        do throws(Refusal) { reply = try Self.reply(stream) } catch { throw end(error) }
        if case .refused(let fault, let text) = reply { throw Self.refusal(fault, text) }
        return reply
    }

    /// Returns the refusal after which nothing more is asked.
    private func end(_ refusal: Refusal) -> Refusal {
        hasEnded = true
        return refusal
    }

    private static func reply(_ stream: FrameStream) throws(Refusal) -> CarrierReply {
        let bytes: [UInt8]
        do throws(FrameStream.FrameError) {
            bytes = try stream.receive(until: MachineClock.monotonic + replyTime)
        } catch {
            throw ended
        }
        guard let reply = CarrierReply(bytes: bytes) else { throw strange }
        return reply
    }

    private static func refusal(_ fault: CarrierReply.Fault, _ text: String) -> Refusal {
        let reason: Refusal.Reason =
            switch fault {
            case .unreachable: .unavailable
            case .account, .damaged: .badParameter
            case .denied: .notAllowedHere
            case .full: .storageFull
            }
        // The text may quote a server.
        return Refusal(reason, SafeText.line(text, max: CarrierReply.textBytesMax))
    }

    private static let strange = Refusal(.internalError, "vauban-sync-etcd sent an unexpected reply; try again")
    private static let ended = Refusal(.unavailable, "vauban-sync-etcd ended without an answer; try again")
    /// A little more than it takes itself (EtcdLimits.operationSeconds). Nanoseconds.
    private static let replyTime: UInt64 = 130_000_000_000
    private static let sendingTime: UInt64 = 10_000_000_000
}
