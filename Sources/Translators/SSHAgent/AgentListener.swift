// One thread waits for all connections. Each complete message is served on a separate thread, so that a prompt or an idle client does not
// block other clients. The separate thread also serves messages that the client sends soon afterwards, which saves two wake-ups per
// message. A message beyond the limits waits for its turn.

import Glibc
internal import Synchronization
internal import VaubanLinuxHost
internal import VaubanPlainText

final class AgentListener: Sendable {
    private struct Work: Sendable {
        var running: [Int32: Int] = [:]
        var count = 0
        /// The number of threads that wait for the next message of the client to which they replied.
        var waiting = 0
        /// Whether messages wait for their turn. If so, no thread waits for its client's next message or starts one out of turn.
        var isQueued = false
        /// Connections to which a reply was sent, and what the listening thread has to do with each.
        var finished: [(connection: AgentConnection, left: AgentConnection.Reading)] = []

        /// Starts the next message of a queue: the oldest one of the process that has the fewest requests in progress. Returns its index in
        /// the queue, or nil if none can start now.
        mutating func beginNext(of queue: [AgentConnection]) -> Int? {
            isQueued = !queue.isEmpty
            let next = queue.indices.min { running[queue[$0].process, default: 0] < running[queue[$1].process, default: 0] }
            guard let next, begin(of: queue[next].process) else { return nil }
            return next
        }

        /// Starts a message that a client sent soon after its last one. Returns false if the message must wait for its turn.
        mutating func beginFollowing(of process: Int32) -> Bool { !isQueued && begin(of: process) }

        /// Returns false if a limit of concurrent requests is reached.
        private mutating func begin(of process: Int32) -> Bool {
            guard count < AgentLimits.requestsMax, running[process, default: 0] < AgentLimits.requestsOfProcessMax else { return false }
            count += 1
            running[process, default: 0] += 1
            return true
        }

        mutating func end(of process: Int32) {
            count -= 1
            running[process] = running[process].flatMap { $0 > 1 ? $0 - 1 : nil }
        }

        /// Returns false if enough threads wait already, or if messages of other clients wait for their turn.
        mutating func beginWaiting() -> Bool {
            guard !isQueued, waiting < AgentLimits.waitingThreadsMax else { return false }
            waiting += 1
            return true
        }

        mutating func takeFinished() -> [(connection: AgentConnection, left: AgentConnection.Reading)] {
            defer { finished = [] }
            return finished
        }
    }

    private let socket: AgentSocket
    private let keys: AgentKeys
    private let hosts: HostNames
    /// The path of another agent whose keys are also offered.
    private let upstream: String?
    /// Whether systemd holds the socket, and starts the agent at the next connection if it has ended.
    private let isStartedOnDemand: Bool
    private let startTime = MachineClock.monotonic
    private let work = Mutex(Work())
    private let wakeup: Wakeup

    init(socket: AgentSocket, keys: AgentKeys, hosts: HostNames, upstream: String?, isStartedOnDemand: Bool) throws(SystemError) {
        self.upstream = upstream
        self.isStartedOnDemand = isStartedOnDemand
        self.socket = socket
        self.keys = keys
        self.hosts = hosts
        wakeup = try Wakeup()
        _ = fcntl(socket.listener.number, F_SETFL, O_NONBLOCK)
    }

    func run() -> Never {
        var idle: [AgentConnection] = []
        var busy: [ObjectIdentifier: AgentConnection] = [:]
        /// Connections with a complete message that waits for its turn, in order of arrival.
        var queue: [AgentConnection] = []
        /// Whether the user was told that the agent cannot read a file of known hosts.
        var isReported = false
        while true {
            let working = Array(busy.values)
            let isFull = idle.count + working.count + queue.count >= AgentLimits.connectionsMax
            var pollers = [
                pollfd(fd: wakeup.descriptor.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isFull ? -1 : socket.listener.number, events: Int16(POLLIN), revents: 0),
            ]
            pollers += idle.map { pollfd(fd: $0.socket.number, events: Int16(POLLIN), revents: 0) }
            // While a request is served or queued, only the end of its connection is of interest, since that cancels the request.
            pollers += working.map { pollfd(fd: $0.isCancelled ? -1 : $0.socket.number, events: 0, revents: 0) }
            pollers += queue.map { pollfd(fd: $0.socket.number, events: 0, revents: 0) }
            guard poll(&pollers, nfds_t(pollers.count), -1) > 0 else { continue }
            for (connection, poller) in zip(working, pollers[(2 + idle.count)...]) where poller.revents != 0 { connection.cancel() }
            queue = zip(queue, pollers[(2 + idle.count + working.count)...]).filter { $1.revents == 0 }.map(\.0)
            var quiet: [AgentConnection] = []
            for (connection, poller) in zip(idle, pollers[2...]) {
                guard poller.revents != 0 else { quiet.append(connection); continue }
                switch connection.read() {
                case .more: quiet.append(connection)
                case .message: queue.append(connection)
                case .ended: break
                }
            }
            idle = quiet
            if pollers[0].revents != 0 {
                wakeup.clear()
                for (connection, left) in work.withLock({ work in work.takeFinished() }) {
                    busy[ObjectIdentifier(connection)] = nil
                    switch left {
                    case .more: idle.append(connection)
                    case .message: queue.append(connection)
                    case .ended: break
                    }
                }
            }
            begin(&queue, &busy)
            guard pollers[1].revents != 0 else { continue }
            renewIfOutdated(isIdle: idle.isEmpty && busy.isEmpty && queue.isEmpty, &isReported)
            accept(into: &idle, beside: Array(busy.values) + queue)
        }
    }

    /// Ends an agent that cannot read the present files of known hosts, or whose program was upgraded, if nothing is lost with it: systemd
    /// starts the next one for the client that waits. Otherwise says once what it cannot do.
    private func renewIfOutdated(isIdle: Bool, _ isReported: inout Bool) {
        // systemd gives up on a service that starts too often.
        guard MachineClock.monotonic - startTime >= AgentLimits.renewalTime else { return }
        let isReplaced = Self.isReplaced, isRefused = isReplaced && keys.kept.refusesReplacedPrograms, isOutdated = hosts.isOutdated
        guard isReplaced || isOutdated else { return }
        if isStartedOnDemand, isIdle, !keys.hasState, isRefused || keys.kept.isListedAgain { exit(0) }
        guard !isReported, isRefused || isOutdated else { return }
        isReported = true
        let remedy = isStartedOnDemand ? "run: systemctl --user restart vauban-ssh-agent" : "start this agent again"
        printToStandardError(
            isRefused
                ? "This agent was upgraded while it runs, so it cannot use stored keys any more. To change that, \(remedy)"
                : "A file of known hosts was made or replaced, and this agent cannot read it, so prompts may show the fingerprint of a "
                    + "server in place of its name. To change that, \(remedy)")
    }

    /// Whether the program's file was replaced, as by an upgrade. The keychain does not serve such a program.
    private static var isReplaced: Bool {
        var buffer = [UInt8](repeating: 0, count: 4097)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return false }
        return PathBytes.isDeleted(String(decoding: buffer[..<count], as: UTF8.self))
    }

    private func accept(into idle: inout [AgentConnection], beside others: [AgentConnection]) {
        let number = Glibc.accept(socket.listener.number, nil, nil)
        guard number >= 0 else {
            // Without a free descriptor, the only option is to wait until one is closed.
            if errno == EMFILE || errno == ENFILE { poll(nil, 0, ConnectionLimits.shortagePause) }
            return
        }
        let socket = Descriptor(number)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
        guard let peer = try? Peer(ofConnection: socket), peer.uid == geteuid() else { return }
        let own = { (connection: AgentConnection) in connection.process == peer.pid }
        guard idle.count(where: own) + others.count(where: own) < AgentLimits.connectionsOfProcessMax else { return }
        idle.append(
            AgentConnection(
                socket,
                AgentRequestHandler(
                    keys: keys, hosts: hosts, requester: Requester(peer, socket), upstream: upstream.map(UpstreamAgent.init))))
    }

    /// Starts serving the messages whose turn it is.
    private func begin(_ queue: inout [AgentConnection], _ busy: inout [ObjectIdentifier: AgentConnection]) {
        while let next = work.withLock({ $0.beginNext(of: queue) }) {
            let connection = queue[next]
            do throws(SystemError) {
                try HostThread.start { [self] in
                    let left = serve(connection)
                    work.withLock { $0.finished.append((connection, left)) }
                    wakeup.signal()
                }
            } catch {
                let isAlone = work.withLock { work in
                    work.end(of: connection.process)
                    return work.count == 0
                }
                // With other requests in progress, the end of one frees a thread and retries this message. Otherwise nothing would retry
                // it, so it is dropped.
                guard isAlone else { return }
                queue.remove(at: next)
                continue
            }
            queue.remove(at: next)
            busy[ObjectIdentifier(connection)] = connection
        }
    }

    /// Serves a message and those that follow it soon. Returns the state of the connection after that: a message waits for its turn, none
    /// is there yet, or the connection has ended.
    private func serve(_ connection: AgentConnection) -> AgentConnection.Reading {
        let process = connection.process
        while true {
            let isOpen = connection.answer()
            let waits = work.withLock { work in
                work.end(of: process)
                return isOpen && work.beginWaiting()
            }
            guard waits else { return isOpen ? .more : .ended }
            let reading = connection.readSoon()
            let begins = work.withLock { work in
                work.waiting -= 1
                return reading == .message && work.beginFollowing(of: process)
            }
            guard begins else { return reading }
        }
    }
}
