internal import Dispatch
internal import Synchronization

/// A value that one thread waits for and another sets.
package final class BlockingResult<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    package init() {}

    /// Sets the value. Must be called once.
    package func set(_ value: Value) {
        self.value.withLock { $0 = value }
        isThere.signal()
    }

    /// Waits for the value. Only one thread may wait.
    package func wait() -> Value {
        while true {
            isThere.wait()
            if let value = value.withLock({ $0 }) { return value }
        }
    }

    /// Runs `body` as a task and waits for its result. Must not be called on one of the threads of the shared pool for tasks.
    package static func of(_ body: @escaping @Sendable () async -> Value) -> Value {
        let result = BlockingResult()
        Task.detached { result.set(await body()) }
        return result.wait()
    }
}
