// One thread waits for all connections. Each complete message is served on a separate thread, so that a prompt or an idle client does not
// block other clients. That thread also serves what the client sends soon after, which spares a client with many requests the wake-ups of
// the other thread.

import Glibc
internal import Synchronization
internal import VaubanLinuxHost

final class AgentListener: Sendable {
    private struct Work: Sendable {
        var running: [Int32: Int] = [:]
        var count = 0
        /// Threads that wait for the next message of the client to which they have replied.
        var waiting = 0
        /// Connections whose reply was sent, and whether they stay open.
        var finished: [(connection: AgentConnection, staysOpen: Bool)] = []

        /// Returns false if too many requests are being served.
        mutating func begin(of process: Int32) -> Bool {
            guard count < AgentLimits.requestsMax, running[process, default: 0] < AgentLimits.requestsOfProcessMax else { return false }
            count += 1
            running[process, default: 0] += 1
            return true
        }

        mutating func end(of process: Int32) {
            count -= 1
            running[process] = running[process].flatMap { $0 > 1 ? $0 - 1 : nil }
        }

        /// Returns false if enough threads wait already.
        mutating func beginWaiting() -> Bool {
            guard waiting < AgentLimits.waitingThreadsMax else { return false }
            waiting += 1
            return true
        }

        mutating func takeFinished() -> [(connection: AgentConnection, staysOpen: Bool)] {
            defer { finished = [] }
            return finished
        }
    }

    private let socket: AgentSocket
    private let keys: AgentKeys
    private let hosts: HostNames
    /// The path of another agent whose keys are also offered.
    private let upstream: String?
    private let work = Mutex(Work())
    private let wakeup: Wakeup

    init(socket: AgentSocket, keys: AgentKeys, hosts: HostNames, upstream: String?) throws(SystemError) {
        self.upstream = upstream
        self.socket = socket
        self.keys = keys
        self.hosts = hosts
        wakeup = try Wakeup()
        _ = fcntl(socket.listener.number, F_SETFL, O_NONBLOCK)
    }

    func run() -> Never {
        var idle: [AgentConnection] = []
        var busy: [ObjectIdentifier: AgentConnection] = [:]
        while true {
            let working = Array(busy.values)
            let isFull = idle.count + working.count >= AgentLimits.connectionsMax
            var pollers = [
                pollfd(fd: wakeup.descriptor.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isFull ? -1 : socket.listener.number, events: Int16(POLLIN), revents: 0),
            ]
            pollers += idle.map { pollfd(fd: $0.socket.number, events: Int16(POLLIN), revents: 0) }
            // While a request is served, only the end of its connection matters, because it cancels the request.
            pollers += working.map { pollfd(fd: $0.isCancelled ? -1 : $0.socket.number, events: 0, revents: 0) }
            guard poll(&pollers, nfds_t(pollers.count), -1) > 0 else { continue }
            for (connection, poller) in zip(working, pollers[(2 + idle.count)...]) where poller.revents != 0 { connection.cancel() }
            var quiet: [AgentConnection] = []
            for (connection, poller) in zip(idle, pollers[2...]) {
                guard poller.revents != 0 else { quiet.append(connection); continue }
                switch connection.read() {
                case .more: quiet.append(connection)
                case .message where begin(connection): busy[ObjectIdentifier(connection)] = connection
                case .message, .ended: break
                }
            }
            idle = quiet
            if pollers[0].revents != 0 {
                wakeup.clear()
                for (connection, staysOpen) in work.withLock({ work in work.takeFinished() }) {
                    busy[ObjectIdentifier(connection)] = nil
                    if staysOpen { idle.append(connection) }
                }
            }
            if pollers[1].revents != 0 { accept(into: &idle, beside: busy.values) }
        }
    }

    private func accept(into idle: inout [AgentConnection], beside busy: some Collection<AgentConnection>) {
        let number = Glibc.accept(socket.listener.number, nil, nil)
        guard number >= 0 else {
            // Without a free descriptor the only option is to wait.
            if errno == EMFILE || errno == ENFILE { poll(nil, 0, ConnectionLimits.shortagePause) }
            return
        }
        let socket = Descriptor(number)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
        guard let peer = try? Peer(ofConnection: socket), peer.uid == geteuid() else { return }
        let own = { (connection: AgentConnection) in connection.session.requester.process == peer.pid }
        guard idle.count(where: own) + busy.count(where: own) < AgentLimits.connectionsOfProcessMax else { return }
        idle.append(
            AgentConnection(
                socket,
                AgentSession(keys: keys, hosts: hosts, requester: Requester(peer, socket), upstream: upstream.map(UpstreamAgent.init))))
    }

    /// Starts to serve a message. Returns false if too many requests are being served: then the connection ends.
    private func begin(_ connection: AgentConnection) -> Bool {
        let process = connection.session.requester.process
        guard work.withLock({ $0.begin(of: process) }) else { return false }
        do throws(SystemError) {
            try HostThread.start { [self] in
                let staysOpen = serve(connection, of: process)
                work.withLock { $0.finished.append((connection, staysOpen)) }
                wakeup.signal()
            }
            return true
        } catch {
            work.withLock { $0.end(of: process) }
            return false
        }
    }

    /// Serves a message and those that follow it soon. Returns whether the connection stays open.
    private func serve(_ connection: AgentConnection, of process: Int32) -> Bool {
        while true {
            let isOpen = connection.answer()
            let waits = work.withLock { work in
                work.end(of: process)
                return isOpen && work.beginWaiting()
            }
            guard waits else { return isOpen }
            let reading = connection.readSoon()
            let begins = work.withLock { work in
                work.waiting -= 1
                return reading == .message && work.begin(of: process)
            }
            guard begins else { return reading == .more }
        }
    }
}
