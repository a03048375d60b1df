import Dispatch
import Logging
import Synchronization
import VaubanAssociationsWire
import VaubanDER
import VaubanLinuxHost

/// The socket of the fetcher: keychaind alone connects, and asks one question on each connection.
struct FetcherRoom {
    private let listener: Descriptor
    private let keychainUID: UInt32
    private let log: Logger
    private let cache: SiteListCache

    init(listener: Descriptor, keychainUID: UInt32, log: Logger) {
        self.listener = listener
        self.keychainUID = keychainUID
        self.log = log
        cache = SiteListCache(log: log)
    }

    func run() throws(SystemError) -> Never {
        let connections = ConnectionTable(max: FetcherLimits.connectionsMax, sharing: .oneUser)
        let server = ConnectionServer(listener: listener, connections: connections) { [keychainUID] in $0 == keychainUID }
        try server.run(
            refused: { [log] fault, uid in log.notice("a connection is refused", metadata: ["uid": "\(uid)", "why": "\(fault)"]) },
            serve: { [cache, log] connection in
                do {
                    let message = try connection.channel.receive(.machine)
                    let request = try SiteListRequest(derBytes: message.header)
                    let reply = Self.wait { await cache.reply(to: request.host) }
                    if case .failed(let why) = reply {
                        log.notice("a website lists nothing", metadata: ["host": "\(request.host)", "why": "\(why)"])
                    }
                    try connection.channel.send(header: try reply.encoded())
                } catch {
                    log.notice("a question is not answered", metadata: ["why": "\(error)"])
                }
            })
    }

    /// Waits on this connection's thread, which serves nothing else.
    private static func wait(_ body: @escaping @Sendable () async -> SiteListReply) -> SiteListReply {
        let pending = PendingReply()
        Task.detached { pending.set(await body()) }
        return pending.wait()
    }
}

/// A reply that one thread waits for.
private final class PendingReply: Sendable {
    private let reply = Mutex<SiteListReply?>(nil)
    private let done = DispatchSemaphore(value: 0)

    func set(_ value: SiteListReply) {
        reply.withLock { $0 = value }
        done.signal()
    }

    func wait() -> SiteListReply {
        done.wait()
        return reply.withLock { $0 } ?? .failed("it was not asked")
    }
}
