// The access logs of all users, and the threads that write what reads have noted.

package import KeychainStore
package import Logging
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRoomHardening
internal import VaubanRoomLog

package final class AccessLogs: Sendable {
    private let databases: DatabaseRegistry
    private let journal: BoundedLog
    /// How long uses are collected before they are written; nil if only changes write them.
    private let pauseMilliseconds: Int32?
    private let logs = ThreadMutex<[UInt32: AccessLog]>([:])
    private let waiting = ThreadMutex(Waiting())

    /// The users whose uses are to be written, the first one first, and when, in nanoseconds since start.
    private struct Waiting {
        var writes: [(user: UInt32, due: UInt64)] = []
        /// Whether a thread writes them.
        var isServed = false
    }

    package init(databases: DatabaseRegistry, logger: Logger, pauseMilliseconds: Int32? = KeychainLimits.logPauseMilliseconds) {
        self.databases = databases
        journal = BoundedLog(logger)
        self.pauseMilliseconds = pauseMilliseconds
    }

    func log(of user: UInt32) -> AccessLog {
        logs.withLock { logs in
            if let log = logs[user] { return log }
            if logs.count >= KeychainLimits.logsMax { Self.forgetIdle(&logs) }
            let log = AccessLog { [journal] record in journal.info("items were used", about: user, record.journalLine) }
            logs[user] = log
            return log
        }
    }

    /// Forgets the logs that no request uses and that have nothing to write.
    private static func forgetIdle(_ logs: inout [UInt32: AccessLog]) {
        for user in Array(logs.keys) {
            var log = logs.removeValue(forKey: user)
            if !isKnownUniquelyReferenced(&log) || log?.hasPending == true { logs[user] = log }
        }
    }

    /// Has what was noted of a user written in about a second, by a thread that ends when there is no more to write. Without a thread, or
    /// if the log has no series, it is written with the user's next change.
    func schedule(_ user: UInt32) {
        guard let pauseMilliseconds else { return }
        let mustStart = waiting.withLock { waiting in
            guard !waiting.writes.contains(where: { $0.user == user }) else { return false }
            waiting.writes.append((user, MachineClock.boot + UInt64(pauseMilliseconds) * 1_000_000))
            defer { waiting.isServed = true }
            return !waiting.isServed
        }
        guard mustStart else { return }
        do {
            try HostThread.start { [self] in writeAll() }
        } catch {
            waiting.withLock { $0 = Waiting() }
        }
    }

    private func writeAll() {
        while let next = nextWrite() {
            let now = MachineClock.boot
            if next.due > now { Pause.milliseconds(Int32(clamping: (next.due - now) / 1_000_000 + 1)) }
            waiting.withLock { waiting in waiting.writes.removeAll { $0.user == next.user } }
            write(next.user)
            // Keys of log records were on this stack.
            ScratchMemory.scrubStack()
        }
    }

    private func nextWrite() -> (user: UInt32, due: UInt64)? {
        waiting.withLock { waiting in
            if waiting.writes.isEmpty { waiting.isServed = false }
            return waiting.writes.first
        }
    }

    private func write(_ user: UInt32) {
        let log = log(of: user)
        // A change may have written it, and the database may be closed by now.
        guard log.hasPending else { return }
        do {
            try log.flush(to: try databases.database(of: user))
        } catch {
            journal.notice("the access log cannot be written", about: user, ["why": "\(error)"])
        }
    }
}
