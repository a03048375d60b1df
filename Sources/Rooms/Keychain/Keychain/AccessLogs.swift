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
    private let pause: Int32?
    private let logs = ThreadMutex<[UInt32: AccessLog]>([:])
    /// The users for whom a thread waits.
    private let waiting = ThreadMutex<Set<UInt32>>([])

    package init(databases: DatabaseRegistry, logger: Logger, pauseMilliseconds: Int32? = KeychainLimits.logPauseMilliseconds) {
        self.databases = databases
        journal = BoundedLog(logger)
        pause = pauseMilliseconds
    }

    func log(of user: UInt32) -> AccessLog {
        logs.withLock { logs in
            if let log = logs[user] { return log }
            let log = AccessLog { [journal] record in journal.info("items were used", about: user, record.journalLine) }
            logs[user] = log
            return log
        }
    }

    /// Has what was noted of a user written in about a second, by a thread that ends then. Without a further thread, or if the log has no
    /// series, it is written with the user's next change.
    func schedule(_ user: UInt32) {
        guard let pause, waiting.withLock({ $0.insert(user).inserted }) else { return }
        do {
            try HostThread.start { [self] in
                Pause.milliseconds(pause)
                _ = waiting.withLock { $0.remove(user) }
                write(user)
                // Keys of records were on this stack.
                ScratchMemory.scrubStack()
            }
        } catch {
            _ = waiting.withLock { $0.remove(user) }
        }
    }

    private func write(_ user: UInt32) {
        do {
            try log(of: user).flush(to: try databases.database(of: user))
        } catch {
            journal.notice("the access log cannot be written", about: user, ["why": "\(error)"])
        }
    }
}
