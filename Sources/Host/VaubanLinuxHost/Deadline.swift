internal import Synchronization

/// Waits that end by a deadline, even if the work cannot be interrupted.
package enum Deadline {
    /// Returns the result of `body`; nil if it takes longer than `time`, which also cancels it.
    package static func value<Value: Sendable>(within time: Duration, _ body: @escaping @Sendable () async -> Value) async -> Value? {
        let task = Task { await body() }
        return await withCheckedContinuation { continuation in
            let first = FirstOutcome(continuation)
            let timer = Task {
                do { try await Task.sleep(for: time) } catch { return }
                first.give(nil)
                task.cancel()
            }
            Task {
                first.give(await task.value)
                timer.cancel()
            }
        }
    }
}

/// Keeps the first of several outcomes and drops the others.
private final class FirstOutcome<Value: Sendable>: Sendable {
    private let waiting: Mutex<CheckedContinuation<Value?, Never>?>

    init(_ continuation: CheckedContinuation<Value?, Never>) { waiting = Mutex(continuation) }

    func give(_ outcome: Value?) {
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(returning: outcome)
    }
}
