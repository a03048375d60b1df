internal import VaubanKeychainWire
internal import VaubanLinuxHost

/// The changes of each user's synchronizable items that were not made for another device, and the requests that wait for the next
/// (Specs/sync.md, "Following").
package final class SynchronizableChanges: Sendable {
    /// The changes of one user's items.
    private struct Changes {
        var number: Int64
        /// The items of the last changes, the oldest first, without those that are not known.
        var recent: [(number: Int64, items: [[UInt8]])] = []
        /// The number after which `recent` contains every change.
        var forgotten: Int64
    }

    /// Where each count begins. It differs between processes, so a number from an earlier process never matches.
    private let first = Int64(clamping: MachineClock.boot)
    private let changes = ThreadMutex<[UInt32: Changes]>([:])
    let waiters = WaiterTable(perUserMax: KeychainLimits.waitersMax, tooMany: "Too many programs wait for changes already")

    package init() {}

    /// Returns the number of the last change; it differs after each further one.
    package func number(of user: UInt32) -> Int64 { changes.withLock { $0[user]?.number ?? first } }

    /// Returns the items that were changed after the change of this number; nil if they are too many, or no longer known.
    func items(of user: UInt32, since number: Int64) -> [[UInt8]]? {
        changes.withLock { changes in
            guard let known = changes[user] else { return number == first ? [] : nil }
            guard number >= known.forgotten, number <= known.number else { return nil }
            let items = Set(known.recent.filter { $0.number > number }.flatMap(\.items))
            return items.count <= SyncRequest.changedItemsMax ? Array(items) : nil
        }
    }

    /// - Parameter items: The items that were changed; nil if not all are known.
    func add(_ items: [[UInt8]]?, of user: UInt32) {
        changes.withLock { changes in
            var known = changes[user] ?? Changes(number: first, forgotten: first)
            known.number &+= 1
            if let items, items.count <= SyncRequest.changedItemsMax {
                known.recent.append((known.number, items))
                if known.recent.count > Self.changesMax { known.forgotten = known.recent.removeFirst().number }
            } else {
                known.recent = []
                known.forgotten = known.number
            }
            changes[user] = known
        }
        waiters.wake(of: user)
    }

    /// The most changes of a user that are remembered.
    private static let changesMax = 200
}
