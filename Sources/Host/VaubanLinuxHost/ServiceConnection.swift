import Glibc
internal import Synchronization

/// A client's way to one door: a small pool of connections, since a call that waits for the person must not hold up
/// another thread's. A connection belongs to the process that made it; a forked child makes its own.
package final class ServiceConnection: Sendable {
    private let service: Service
    private let address: ServerAddress
    private let role: Int64
    private let idle = Mutex<(process: pid_t, channels: [Channel])>((0, []))

    /// Idle connections that are kept.
    private static let idleMax = 4

    package init(service: Service, address: ServerAddress, role: Int64 = 0) {
        self.service = service
        self.address = address
        self.role = role
    }

    /// A connection for one call, and whether it is fresh: one that lay idle may have been closed meanwhile, so a call
    /// that fails on it before any answer is tried once more on a fresh one.
    package func take() throws(HandshakeFault) -> (channel: Channel, isFresh: Bool) {
        let process = getpid()
        let kept: Channel? = idle.withLock { pool in
            if pool.process != process { pool = (process, []) }
            return pool.channels.popLast()
        }
        if let kept { return (kept, false) }
        return (try fresh(), true)
    }

    /// Connects anew. A user-mode service that is set up but not running is started, once.
    package func fresh() throws(HandshakeFault) -> Channel {
        do throws(HandshakeFault) {
            return try address.connect(role: role)
        } catch {
            guard case .system = error, service.home != nil else { throw error }
            let started: Bool
            do throws(SystemFault) { started = try ServiceStarter.start(service) } catch { throw .system(error) }
            guard started else { throw error }
            return try address.connect(role: role)
        }
    }

    /// Keeps a connection on which the last call ended as it should.
    package func give(back channel: Channel) {
        let process = getpid()
        idle.withLock { pool in
            if pool.process == process && pool.channels.count < Self.idleMax { pool.channels.append(channel) }
        }
    }
}
