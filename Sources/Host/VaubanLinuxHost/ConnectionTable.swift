// The connections of one socket, and the choice of those that give way when there are many (Specs/owners.md, section 4).

/// A connection as the table sees it.
package protocol ConnectionEntry: AnyObject, Sendable {
    /// When it began to wait for its next request, in nanoseconds of the monotonic clock; nil while it serves one or must stay open.
    var idleSince: UInt64? { get }
    /// Ends the connection after it has replied to what was already sent. Returns at once.
    func endWhenIdle()
}

package final class ConnectionTable: Sendable {
    /// How the connections are shared.
    package enum Sharing: Sendable {
        /// Among owners, fairly (Specs/owners.md, section 4).
        case owners
        /// One user has all connections; idle ones give way.
        case oneUser
        /// Among rooms, which limit their own connections; none gives way.
        case rooms
    }

    /// A connection's place in the table. It counts against the owner's share until it is returned.
    package struct Place: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct Entry {
        var owner: UInt32
        var connection: (any ConnectionEntry)?
    }

    private struct State {
        var next: UInt64 = 0
        var entries: [UInt64: Entry] = [:]
        var counts: [UInt32: Int] = [:]
        /// Connections that were closed while idle and still reply to what had just arrived.
        var leaving: Set<UInt64> = []

        mutating func remove(_ number: UInt64) {
            guard let entry = entries.removeValue(forKey: number) else { return }
            counts[entry.owner] = (counts[entry.owner] ?? 1) - 1
            if counts[entry.owner] == 0 { counts[entry.owner] = nil }
        }
    }

    /// The largest number of connections.
    package let max: Int
    private let sharing: Sharing
    /// The limit of one owner, even if no other owner has a connection.
    private let perOwnerMax: Int
    private let state = ThreadMutex(State())

    package init(max: Int, sharing: Sharing = .owners, perOwnerMax: Int = .max) {
        self.max = max
        self.sharing = sharing
        self.perOwnerMax = perOwnerMax
    }

    /// Returns a place for one more connection of this owner, and closes an idle one if necessary; nil if the owner has used up its share
    /// and none of its connections is idle.
    package func enter(_ owner: UInt32) -> Place? {
        var ended: [any ConnectionEntry] = []
        let place: Place? = state.withLock { state in
            while !hasRoom(for: owner, state) {
                guard state.leaving.count < ConnectionLimits.leavingMax, let number = victim(for: owner, state) else { return nil }
                if let connection = state.entries[number]?.connection { ended.append(connection) }
                state.remove(number)
                state.leaving.insert(number)
            }
            state.next += 1
            state.entries[state.next] = Entry(owner: owner)
            state.counts[owner, default: 0] += 1
            return Place(number: state.next)
        }
        for connection in ended { connection.endWhenIdle() }
        return place
    }

    /// Sets the connection in the place, so that it can be closed while idle.
    package func set(_ connection: any ConnectionEntry, in place: Place) {
        state.withLock { $0.entries[place.number]?.connection = connection }
    }

    /// Counts a connection against another owner from now on, once its owner is known.
    package func move(_ place: Place, to owner: UInt32) {
        state.withLock { state in
            guard var entry = state.entries[place.number], entry.owner != owner else { return }
            state.remove(place.number)
            entry.owner = owner
            state.entries[place.number] = entry
            state.counts[owner, default: 0] += 1
        }
    }

    /// Returns the place to the table.
    package func leave(_ place: Place) {
        state.withLock { state in
            state.remove(place.number)
            state.leaving.remove(place.number)
        }
    }

    /// Closes the connection in this place once it is idle, and frees the place.
    package func end(_ place: Place) {
        let ended: (any ConnectionEntry)? = state.withLock { state in
            let connection = state.entries[place.number]?.connection
            if connection != nil { state.leaving.insert(place.number) }
            state.remove(place.number)
            return connection
        }
        ended?.endWhenIdle()
    }

    /// Closes an idle connection of the owner with the most connections, when descriptors have run out. Returns false if there is none.
    package func endOneIdle() -> Bool {
        let ended: (any ConnectionEntry)? = state.withLock { state in
            guard state.leaving.count < ConnectionLimits.leavingMax, let number = longestIdle(among: state.counts.keys, state) else {
                return nil
            }
            let connection = state.entries[number]?.connection
            state.remove(number)
            state.leaving.insert(number)
            return connection
        }
        ended?.endWhenIdle()
        return ended != nil
    }

    /// Returns the number of an owner's connections.
    package func count(of owner: UInt32) -> Int { state.withLock { $0.counts[owner] ?? 0 } }
    package var count: Int { state.withLock { $0.entries.count } }

    private func hasRoom(for owner: UInt32, _ state: State) -> Bool {
        let free = max - state.entries.count
        guard sharing == .owners else { return free > 0 }
        let own = state.counts[owner] ?? 0
        return own < perOwnerMax && ConnectionLimits.freeForEach * (own + 1) <= free
    }

    /// Returns the connection to close for one more of `owner`: one of an owner with more connections than `owner` would have, otherwise
    /// one of `owner`.
    private func victim(for owner: UInt32, _ state: State) -> UInt64? {
        guard sharing != .rooms else { return nil }
        let own = state.counts[owner] ?? 0
        guard sharing == .owners, own < perOwnerMax else { return longestIdle(among: [owner], state) }
        let larger = state.counts.filter { $0.key != owner && $0.value > own + 1 }.keys
        return longestIdle(among: larger, state) ?? longestIdle(among: [owner], state)
    }

    /// Returns the connection that has been idle longest, of the owner with the most connections among those that have an idle one.
    private func longestIdle(among owners: some Sequence<UInt32>, _ state: State) -> UInt64? {
        let owners = Set(owners)
        guard !owners.isEmpty else { return nil }
        var found: (number: UInt64, count: Int, since: UInt64)?
        for (number, entry) in state.entries where owners.contains(entry.owner) {
            let count = state.counts[entry.owner] ?? 0
            if let found, found.count > count { continue }
            guard let since = entry.connection?.idleSince else { continue }
            if let found, found.count == count, found.since <= since { continue }
            found = (number, count, since)
        }
        return found?.number
    }
}
