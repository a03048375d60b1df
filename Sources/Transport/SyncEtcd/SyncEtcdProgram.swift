import Glibc
import VaubanEtcd
import VaubanLinuxHost
import VaubanRoomHardening
import VaubanSyncCarrierWire

/// The program vauban-sync-etcd, which carries the sealed files of vauban sync to etcd and back (Specs/sync.md, "The carrier"):
/// `vauban-sync-etcd FOLDER`, started by `vauban sync` with a socket as descriptor 3. It ends when the socket is closed.
package enum SyncEtcdProgram {
    package static func main() -> Never {
        guard CommandLine.arguments.count == 2, fcntl(3, F_SETFD, FD_CLOEXEC) == 0 else {
            // For a user who starts it by hand; vauban sync gives it no standard error.
            let line = Array("vauban-sync-etcd is started by vauban sync\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
            exit(64)
        }
        let socket = FrameStream(Descriptor(3), bytesMax: CarrierGrammar.messageBytesMax)
        do {
            let hardening = try RoomHardening(.syncEtcd)
            let account = try AccountFolder(CommandLine.arguments[1])
            NameService.loadForHosts()
            // The rooms already log what this kernel lacks, so it is not repeated here.
            _ = try hardening.confine(alsoReads: nameServers, connectingTo: account.account.ports)
            let caller = try EtcdClient(account)
            send(.ready(account.account.description), socket)
            serve(socket, client: caller, store: EtcdStore(caller, user: account.account.user))
        } catch let fault as EtcdError {
            end(.refused(.account, fault.text), socket)
        } catch {
            end(.refused(.unreachable, "vauban-sync-etcd cannot start: \(error)"), socket)
        }
    }

    private static func serve(_ socket: FrameStream, client: EtcdClient, store: EtcdStore<EtcdClient>) -> Never {
        while true {
            do throws(ChannelError) {
                guard let request = CarrierRequest(bytes: try socket.receive(until: nil)) else {
                    end(.refused(.unreachable, "vauban-sync-etcd is of another version; reinstall Vauban"), socket)
                }
                if request.operation == .watch { watch(socket, client) }
                // This program's first thread does nothing else.
                send(BlockingResult.of { await reply(to: request, store) }, socket)
            } catch .closed {
                exit(0)
            } catch {
                end(.refused(.unreachable, "vauban-sync-etcd cannot read a request: \(error)"), socket)
            }
        }
    }

    /// Reports changes until the command line closes the socket, or no node can be watched.
    private static func watch(_ socket: FrameStream, _ client: EtcdClient) -> Never {
        Task.detached {
            let fault = await client.watch { sections in
                send(.changed(sections.count <= CarrierReply.sectionsMax ? sections : []), socket)
            }
            end(refusal(fault), socket)
        }
        // The command line sends no further request; this returns when it closes the socket.
        _ = try? socket.receive(until: nil)
        exit(0)
    }

    /// Returns at the deadline of an operation, even if parts of it are still running.
    private static func reply(to request: CarrierRequest, _ store: EtcdStore<EtcdClient>) async -> CarrierReply {
        let answer = await Deadline.value(within: .seconds(EtcdLimits.operationSeconds)) { () -> CarrierReply in
            do throws(EtcdError) {
                return try await store.reply(to: request)
            } catch {
                return Self.refusal(error)
            }
        }
        return answer ?? .refused(.unreachable, "etcd took longer than \(EtcdLimits.operationSeconds) seconds; try again")
    }

    private static func refusal(_ fault: EtcdError) -> CarrierReply {
        switch fault.kind {
        // The command line tries again after these, since a node's certificate and the account can be replaced meanwhile.
        case .account, .certificate: .refused(.account, fault.text)
        case .denied, .accountCertificate: .refused(.denied, fault.text)
        case .full: .refused(.full, fault.text)
        case .damaged: .refused(.damaged, fault.text)
        case .unreachable, .busy, .garbage, .unauthenticated, .refused: .refused(.unreachable, fault.text)
        }
    }

    private static func send(_ reply: CarrierReply, _ socket: FrameStream) {
        do throws(ChannelError) {
            try socket.send(reply.bytes, until: MachineClock.monotonic + 10_000_000_000)
        } catch {
            exit(1)
        }
    }

    private static func end(_ refusal: CarrierReply, _ socket: FrameStream) -> Never {
        send(refusal, socket)
        exit(1)
    }

    /// The folders besides `/etc` that may contain the lists of name servers.
    private static var nameServers: [String] {
        ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"].filter { access($0, F_OK) == 0 }
    }
}
