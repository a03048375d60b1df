internal import Synchronization

/// Waiting that ends in time, whatever still has to end then.
package enum Deadline {
    /// Returns what the body returns; nil if that takes longer, and the body is cancelled.
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

/// The first of several outcomes; the others are dropped.
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
