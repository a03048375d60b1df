// Waits for the verifier's asynchronous calls, which stay within this process.

internal import Dispatch
internal import Synchronization

/// Runs each part of a task on a separate thread. The caller may be on one of the few threads that all tasks share: if all of those waited
/// here for work that only they could do, none would proceed.
private final class OwnThreads: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        Thread { job.runSynchronously(on: executor) }.start()
    }
}

private final class Answer<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
    let isThere = DispatchSemaphore(value: 0)
}

/// Does the work and waits for its result.
func waitFor<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value {
    let answer = Answer<Value>()
    Task(executorPreference: OwnThreads()) {
        let value = await work()
        answer.value.withLock { $0 = value }
        answer.isThere.signal()
    }
    while true {
        answer.isThere.wait()
        if let value = answer.value.withLock({ $0 }) { return value }
    }
}
