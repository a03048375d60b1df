import Dispatch
import Glibc
import Synchronization
import VaubanEtcd
import VaubanLinuxHost
import VaubanRoomHardening
import VaubanSyncCarrierWire

/// The program: `vauban-sync-etcd FOLDER`, started by `vauban sync` with a socket as descriptor 3, and ended by closing that.
enum SyncEtcdProgram {
    static func main() -> Never {
        guard CommandLine.arguments.count == 2, fcntl(3, F_SETFD, FD_CLOEXEC) == 0 else { end("it is started by vauban sync", 64) }
        let socket = FrameStream(Descriptor(3), bytesMax: CarrierGrammar.messageBytesMax)
        do {
            let hardening = try RoomHardening(.syncEtcd)
            let account: AccountFolder
            do throws(EtcdFault) {
                account = try AccountFolder(CommandLine.arguments[1])
            } catch {
                send(.refused(.account, error.text), socket)
                exit(0)
            }
            NameService.loadForHosts()
            // What this kernel lacks the rooms say when they start; it would be no news at each run.
            _ = try hardening.confine(alsoReads: nameServers)
            let caller = try EtcdClient(account)
            send(.ready(account.account.description), socket)
            serve(socket, EtcdStore(caller, user: account.account.user), caller)
        } catch let fault as EtcdFault {
            send(.refused(.account, fault.text), socket)
            exit(0)
        } catch {
            end("\(error)", 1)
        }
    }

    private static func serve(_ socket: FrameStream, _ store: EtcdStore<EtcdClient>, _ client: EtcdClient) -> Never {
        while true {
            do throws(FrameStream.FrameError) {
                guard let request = CarrierRequest(bytes: try socket.receive(until: nil)) else { end("a request is not understood", 64) }
                send(wait { await reply(to: request, store, client) }, socket)
            } catch .closed {
                exit(0)
            } catch {
                end("\(error)", 1)
            }
        }
    }

    /// Returns at the deadline of an operation, whatever still has to end then.
    private static func reply(to request: CarrierRequest, _ store: EtcdStore<EtcdClient>, _ client: EtcdClient) async -> CarrierReply {
        let answer = await Deadline.value(seconds: EtcdLimits.operationSeconds) { () -> CarrierReply in
            do throws(EtcdFault) {
                return try await store.reply(to: request)
            } catch {
                // Whose answer it was, the client alone knows.
                guard error.kind == .garbage else { return Self.refusal(error) }
                return .refused(.unreachable, "etcd at \(await client.lastAnswering) \(error.text); see the file account")
            }
        }
        return answer ?? .refused(.unreachable, "etcd took longer than \(EtcdLimits.operationSeconds) seconds; try again")
    }

    private static func refusal(_ fault: EtcdFault) -> CarrierReply {
        switch fault.kind {
        case .account: .refused(.account, fault.text)
        case .denied: .refused(.denied, fault.text)
        case .full: .refused(.full, fault.text)
        case .damaged: .refused(.damaged, fault.text)
        case .unreachable, .busy, .garbage, .unauthenticated, .refused: .refused(.unreachable, fault.text)
        }
    }

    private static func send(_ reply: CarrierReply, _ socket: FrameStream) {
        do throws(FrameStream.FrameError) {
            try socket.send(reply.bytes, until: MachineClock.monotonic + 10_000_000_000)
        } catch {
            exit(1)
        }
    }

    /// Waits on this program's first thread, which does nothing else.
    private static func wait(_ body: @escaping @Sendable () async -> CarrierReply) -> CarrierReply {
        let pending = PendingReply()
        Task.detached { pending.set(await body()) }
        return pending.wait()
    }

    private static func end(_ why: String, _ status: Int32) -> Never {
        let line = Array("vauban-sync-etcd: \(why)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        exit(status)
    }

    /// Where the lists of name servers may lie besides `/etc`.
    private static var nameServers: [String] {
        ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"].filter { access($0, F_OK) == 0 }
    }
}

/// A reply that one thread waits for.
private final class PendingReply: Sendable {
    private let reply = Mutex<CarrierReply?>(nil)
    private let done = DispatchSemaphore(value: 0)

    func set(_ value: CarrierReply) {
        reply.withLock { $0 = value }
        done.signal()
    }

    func wait() -> CarrierReply {
        done.wait()
        return reply.withLock { $0 } ?? .refused(.unreachable, "etcd was not asked")
    }
}
