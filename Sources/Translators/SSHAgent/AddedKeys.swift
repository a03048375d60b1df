// Keys added by `ssh-add`. They are in memory until they are removed, expire, or the agent exits.

internal import Synchronization
internal import VaubanLinuxHost
internal import VaubanSSHWire

final class AddedKeys: Sendable {
    struct Entry: Sendable {
        let key: SSHAddedKey
        /// The expiration in nanoseconds of the boot-time clock, which includes sleep; nil for none.
        let end: UInt64?

        var blob: [UInt8] { key.certificate ?? key.publicKey.blob }
        var listedBytes: Int { blob.count + key.comment.utf8.count + 8 }
        var isOver: Bool { end.map { $0 <= MachineClock.boot } ?? false }
    }

    private let entries = Mutex<[Entry]>([])
    private let timer: DueTimer
    /// Whether a thread waits for the timer. It starts with the first key that has a lifetime.
    private let isWatched = Mutex(false)

    init() throws(SystemError) { timer = try DueTimer() }

    var all: [Entry] { entries.withLock { $0.filter { !$0.isOver } } }

    /// Returns whether the agent still has the key, which may have been removed, replaced or erased since it was listed.
    func has(_ entry: Entry) -> Bool { all.contains { $0.key === entry.key } }

    /// Adds a key, or sets new constraints for an existing one. Returns false if there are too many keys, if their list would leave no room
    /// for other keys, or if no timer can erase this key in time.
    func add(_ key: SSHAddedKey) -> Bool {
        let end = key.constraints.seconds.map { MachineClock.boot + UInt64($0) * 1_000_000_000 }
        if end != nil { guard watch() else { return false } }
        let entry = Entry(key: key, end: end)
        return entries.withLock { entries in
            let others = entries.filter { !$0.isOver && $0.blob != entry.blob }
            let bytes = others.reduce(entry.listedBytes) { $0 + $1.listedBytes }
            guard others.count < AgentLimits.addedKeysMax, bytes <= AgentLimits.addedBytesMax else { return false }
            entries = others + [entry]
            timer.set(at: entries.compactMap(\.end).min())
            return true
        }
    }

    func remove(_ blob: [UInt8]) -> Bool {
        entries.withLock { entries in
            let count = entries.count
            entries.removeAll { $0.blob == blob }
            return entries.count < count
        }
    }

    func removeAll() { entries.withLock { $0 = [] } }

    /// Starts the thread that erases expired keys. Returns false if the system has no further thread.
    private func watch() -> Bool {
        isWatched.withLock { isWatched in
            if isWatched { return true }
            do throws(SystemError) {
                try HostThread.start { [self] in
                    while true {
                        timer.wait()
                        applyExpirations()
                    }
                }
                isWatched = true
            } catch { return false }
            return true
        }
    }

    private func applyExpirations() {
        entries.withLock { entries in
            entries.removeAll(where: \.isOver)
            timer.set(at: entries.compactMap(\.end).min())
        }
    }
}
