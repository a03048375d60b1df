package import VaubanLinuxHost
internal import VaubanRefusal

/// The turns of updates that hold much memory until their transaction. Each owner of uids has a few, so that all updates of one owner
/// together hold a bounded amount, and none waits for another owner's (Specs/keychain-database.md, "Memory").
package final class LargeUpdates: Sendable {
    /// A turn that was taken. It ends once, with `end`.
    package struct Turn: Sendable {
        fileprivate let place: Place
        /// Whether the user may be prompted during it.
        package var prompts: Bool { place.prompts }
    }

    /// The turns of one owner with prompts, or those without. The former may last as long as users take to answer, so an update without a
    /// prompt waits for none of them.
    fileprivate struct Place: Hashable, Sendable {
        let owner: UInt32
        let prompts: Bool

        var turnsMax: Int { prompts ? KeychainLimits.promptingUpdatesMax : KeychainLimits.largeUpdatesMax }
    }

    private struct Queue: Sendable {
        var running = 0
        /// The waiting requests, in the order in which they came. A request that another one removed from this list has a turn.
        var waiting: [Wakeup] = []
    }

    private let owner: @Sendable (UInt32) -> UInt32
    private let clock: Clock
    private let queues = ThreadMutex<[Place: Queue]>([:])

    private static let busy = "Other requests are changing many items; try again when they are done"

    /// - Parameter owner: Returns the uid that answers for a uid, of which it may have thousands (`/etc/subuid`).
    package init(owner: @escaping @Sendable (UInt32) -> UInt32 = { $0 }, clock: Clock = .ofThisMachine) {
        self.owner = owner
        self.clock = clock
    }

    /// Takes a turn as soon as those that came before have had theirs and one is free, and calls `report` about every two seconds until
    /// then. Throws `CallerHungUp` if the connection ends, and refuses with `unavailable` if too many requests wait, or none of the others
    /// ends in time.
    /// - Parameter waitTime: How long the request may still wait, in nanoseconds. The time that it waited is subtracted.
    package func turn(
        of user: UInt32, prompts: Bool = false, connection: Descriptor?, waitTime: inout UInt64, report: () throws -> Void
    ) throws -> Turn {
        let place = Place(owner: owner(user), prompts: prompts)
        let wakeup = try Wakeup()
        guard try enter(place, wakeup) else { return Turn(place: place) }
        do {
            try wait(in: place, wakeup, connection: connection, waitTime: &waitTime, report: report)
        } catch {
            // It may have been given the turn at the same time.
            if !leave(place, wakeup) { end(Turn(place: place)) }
            throw error
        }
        return Turn(place: place)
    }

    /// Ends a turn, and passes it to the first waiting request.
    package func end(_ turn: Turn) {
        queues.withLock { queues in
            guard var queue = queues[turn.place] else { return }
            if queue.waiting.isEmpty { queue.running -= 1 } else { queue.waiting.removeFirst().signal() }
            queues[turn.place] = queue.running > 0 ? queue : nil
        }
    }

    /// Takes a free turn, or a place at the end of the queue. Returns whether the request must wait.
    private func enter(_ place: Place, _ wakeup: Wakeup) throws -> Bool {
        try queues.withLock { queues in
            var queue = queues[place, default: Queue()]
            let waits = queue.running >= place.turnsMax
            guard !waits || queue.waiting.count < KeychainLimits.waitersMax else { throw Refusal(.unavailable, Self.busy) }
            if waits { queue.waiting.append(wakeup) } else { queue.running += 1 }
            queues[place] = queue
            return waits
        }
    }

    private func wait(
        in place: Place, _ wakeup: Wakeup, connection: Descriptor?, waitTime: inout UInt64, report: () throws -> Void
    ) throws {
        let deadline = clock.now() + waitTime
        defer { waitTime = deadline - min(clock.now(), deadline) }
        while waits(in: place, wakeup) {
            let now = clock.now()
            guard now < deadline else { throw Refusal(.unavailable, Self.busy) }
            switch clock.wait(wakeup, min(deadline, now + KeychainLimits.silenceMax), connection) {
            case .signaled: continue
            case .deadline: try report()
            case .hungUp, .processEnded: throw CallerHungUp()
            }
        }
        // A signal hides a hang-up at the same time.
        wakeup.clear()
        if case .hungUp = wakeup.wait(until: 0, connection: connection) { throw CallerHungUp() }
    }

    private func waits(in place: Place, _ wakeup: Wakeup) -> Bool {
        queues.withLock { $0[place]?.waiting.contains { $0 === wakeup } ?? false }
    }

    /// Leaves the queue. Returns false if the request has a turn already.
    private func leave(_ place: Place, _ wakeup: Wakeup) -> Bool {
        queues.withLock { queues in
            guard let index = queues[place]?.waiting.firstIndex(where: { $0 === wakeup }) else { return false }
            queues[place]?.waiting.remove(at: index)
            return true
        }
    }

    /// The monotonic clock, in nanoseconds, and a wait until a time of it.
    package struct Clock: Sendable {
        package typealias Wait = @Sendable (_ wakeup: Wakeup, _ deadline: UInt64, _ connection: Descriptor?) -> Wakeup.Outcome

        let now: @Sendable () -> UInt64
        let wait: Wait

        package static let ofThisMachine = Clock(now: { MachineClock.monotonic }, wait: { $0.wait(until: $1, connection: $2) })

        package init(now: @escaping @Sendable () -> UInt64, wait: @escaping Wait) {
            self.now = now
            self.wait = wait
        }
    }
}
