internal import Synchronization
internal import VaubanLinuxHost

/// Serves requests in parallel, since a user's file on a file system that does not answer can block its reader. Requests about one user's
/// programs are limited, so that they do not block another user's.
package final class RequestQueue: Sendable {
    package typealias Work = @Sendable () -> Void

    private struct State {
        var working: [UInt32: Int] = [:]
        var waiting: [(user: UInt32, work: Work)] = []
    }

    private let limit: (total: Int, perUser: Int, waitingPerUser: Int)
    private let state = Mutex(State())

    package init(limit: (total: Int, perUser: Int, waitingPerUser: Int)) { self.limit = limit }

    /// Runs the work now or later. Returns false if too much of this user's work is waiting.
    package func take(of user: UInt32, _ work: @escaping Work) -> Bool {
        enum Place { case now, later, none }
        let place: Place = state.withLock { state in
            if mayWork(for: user, state) {
                state.working[user, default: 0] += 1
                return .now
            }
            guard state.waiting.count(where: { $0.user == user }) < limit.waitingPerUser else { return .none }
            state.waiting.append((user, work))
            return .later
        }
        if place == .now { HostThread.startOrRun { self.run(user, work) } }
        return place != .none
    }

    /// Runs the work, and then waiting work one after the other.
    private func run(_ user: UInt32, _ work: Work) {
        work()
        var done = user
        while let next = next(after: done) {
            next.work()
            done = next.user
        }
    }

    private func next(after user: UInt32) -> (user: UInt32, work: Work)? {
        state.withLock { state in
            let left = (state.working[user] ?? 1) - 1
            state.working[user] = left == 0 ? nil : left
            guard let index = state.waiting.firstIndex(where: { mayWork(for: $0.user, state) }) else { return nil }
            let next = state.waiting.remove(at: index)
            state.working[next.user, default: 0] += 1
            return next
        }
    }

    private func mayWork(for user: UInt32, _ state: State) -> Bool {
        state.working[user] ?? 0 < limit.perUser && state.working.values.reduce(0, +) < limit.total
    }
}
