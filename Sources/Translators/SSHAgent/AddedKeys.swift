// Keys that `ssh-add` gave: in memory until they are removed, their time is over, or the agent ends.

internal import Synchronization
internal import VaubanLinuxHost
internal import VaubanSSHWire

final class AddedKeys: Sendable {
    struct Entry: Sendable {
        let key: SSHAddedKey
        /// Monotonic time with sleep, nanoseconds.
        let end: UInt64?

        var blob: [UInt8] { key.certificate ?? key.publicKey.blob }
        var isOver: Bool { end.map { $0 <= MachineClock.boot } ?? false }
    }

    private let entries = Mutex<[Entry]>([])

    var all: [Entry] {
        entries.withLock { entries in
            entries.removeAll(where: \.isOver)
            return entries
        }
    }

    /// One that is there already takes on the new constraints. False where there are too many.
    func add(_ key: SSHAddedKey) -> Bool {
        let end = key.constraints.seconds.map { MachineClock.boot + UInt64($0) * 1_000_000_000 }
        let entry = Entry(key: key, end: end)
        return entries.withLock { entries in
            entries.removeAll { $0.isOver || $0.blob == entry.blob }
            guard entries.count < AgentLimits.addedKeysMax else { return false }
            entries.append(entry)
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
}
