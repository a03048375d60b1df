import Logging
import VaubanAssociationsWire
import VaubanDER
import VaubanLinuxHost

/// The socket of the fetcher: keychaind alone connects, and sends one request on each connection.
struct FetcherRoom {
    private let listener: Descriptor
    private let keychainUID: UInt32
    private let log: Logger
    private let cache: SiteListCache

    init(listener: Descriptor, keychainUID: UInt32, log: Logger) {
        self.listener = listener
        self.keychainUID = keychainUID
        self.log = log
        cache = SiteListCache(now: { MachineClock.boot }, fetch: { host in await SiteFetch(host: host, log: log).run() })
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
                    // This connection's thread serves nothing else.
                    guard let reply = BlockingResult.of({ await cache.reply(to: request.host) }) else {
                        // Without a reply keychaind lets the program try again; a reply would say that the website refused.
                        return log.notice("a website is not asked: too many others are now", metadata: ["host": "\(request.host)"])
                    }
                    if case .failed(let why) = reply {
                        log.notice("a website lists nothing", metadata: ["host": "\(request.host)", "why": "\(why)"])
                    }
                    try connection.channel.send(header: try reply.encoded())
                } catch {
                    log.notice("a request failed", metadata: ["why": "\(error)"])
                }
            })
    }
}
