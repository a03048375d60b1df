internal import Synchronization

/// Work that can take any time and cannot be interrupted, such as looking up a name. It runs on separate threads: once at a time for each
/// key, and for a limited number of keys, since nothing ends a thread that hangs.
package final class BoundedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Value, BoundedWorkError>, Never>

    private struct State {
        /// The tasks that wait for the work of each key. A key without waiting tasks still has its thread.
        var running: [Key: [UInt64: Waiter]] = [:]
        var last: UInt64 = 0
    }

    private enum Place { case first, joined, full }

    private let max: Int
    private let work: @Sendable (Key) -> Value
    private let state = Mutex(State())

    package init(max: Int, work: @escaping @Sendable (Key) -> Value) {
        self.max = max
        self.work = work
    }

    /// Returns the result of the work for a key. Work that is already running for it is not started again.
    ///
    /// - Throws: `busy` if the maximum number of keys is being worked on, or no thread can be started; `cancelled` if the task is
    ///   cancelled, while the work goes on.
    package func value(for key: Key) async throws(BoundedWorkError) -> Value {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                join(key, number: number, waiter)
                // It may have been cancelled before it joined.
                if Task.isCancelled { leave(key, number: number) }
            }
        } onCancel: {
            leave(key, number: number)
        }
        return try outcome.get()
    }

    private func join(_ key: Key, number: UInt64, _ waiter: Waiter) {
        let place: Place = state.withLock { state in
            if state.running[key] != nil {
                state.running[key]?[number] = waiter
                return .joined
            }
            guard state.running.count < max else { return .full }
            state.running[key] = [number: waiter]
            return .first
        }
        switch place {
        case .joined: return
        case .full: waiter.resume(returning: .failure(.busy))
        case .first:
            do throws(SystemError) {
                try HostThread.start { [self] in end(key, .success(work(key))) }
            } catch {
                end(key, .failure(.busy))
            }
        }
    }

    private func leave(_ key: Key, number: UInt64) {
        let waiter = state.withLock { $0.running[key]?.removeValue(forKey: number) }
        waiter?.resume(returning: .failure(.cancelled))
    }

    private func end(_ key: Key, _ outcome: Result<Value, BoundedWorkError>) {
        let waiters = state.withLock { $0.running.removeValue(forKey: key) } ?? [:]
        for waiter in waiters.values { waiter.resume(returning: outcome) }
    }
}

/// Why there is no result of the work.
package enum BoundedWorkError: Error, Hashable {
    /// Too much is running; a later attempt may succeed.
    case busy
    case cancelled
}
