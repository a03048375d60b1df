import Foundation
internal import Synchronization

/// Questions are worked on side by side, since a file of one person's (on a file system that does not answer) can hold up whoever
/// looks at it. A few at a time about one person's programs, so that nobody's hold up anybody else's.
package final class QuestionDesk: Sendable {
    package typealias Work = @Sendable () -> Void

    private struct State {
        var working: [UInt32: Int] = [:]
        var waiting: [(person: UInt32, work: Work)] = []
    }

    private let limit: (total: Int, perPerson: Int, waitingPerPerson: Int)
    private let state = Mutex(State())

    package init(limit: (total: Int, perPerson: Int, waitingPerPerson: Int)) { self.limit = limit }

    /// Works on it now or later; false where too much of this person's waits already.
    package func take(of person: UInt32, _ work: @escaping Work) -> Bool {
        enum Place { case now, later, none }
        let place: Place = state.withLock { state in
            if mayWork(for: person, state) {
                state.working[person, default: 0] += 1
                return .now
            }
            guard state.waiting.count(where: { $0.person == person }) < limit.waitingPerPerson else { return .none }
            state.waiting.append((person, work))
            return .later
        }
        if place == .now { Thread.detachNewThread { self.run(person, work) } }
        return place != .none
    }

    /// One after the other, as long as something waits that may be worked on.
    private func run(_ person: UInt32, _ work: Work) {
        work()
        var done = person
        while let next = next(after: done) {
            next.work()
            done = next.person
        }
    }

    private func next(after person: UInt32) -> (person: UInt32, work: Work)? {
        state.withLock { state in
            let left = (state.working[person] ?? 1) - 1
            state.working[person] = left == 0 ? nil : left
            guard let index = state.waiting.firstIndex(where: { mayWork(for: $0.person, state) }) else { return nil }
            let next = state.waiting.remove(at: index)
            state.working[next.person, default: 0] += 1
            return next
        }
    }

    private func mayWork(for person: UInt32, _ state: State) -> Bool {
        state.working[person] ?? 0 < limit.perPerson && state.working.values.reduce(0, +) < limit.total
    }
}
