// Keys added by `ssh-add`, in memory until they are removed, expire, or the agent exits.

internal import Synchronization
internal import VaubanLinuxHost
internal import VaubanSSHWire

final class AddedKeys: Sendable {
    struct Entry: Sendable {
        let key: SSHAddedKey
        /// The expiration on the monotonic clock that includes sleep, in nanoseconds.
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

    /// Adds a key, or gives an existing one the new constraints. Returns false if there are too many keys.
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
