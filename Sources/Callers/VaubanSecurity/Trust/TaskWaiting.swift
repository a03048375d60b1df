// Waits for the verifier's asynchronous calls, which stay within this process.

internal import VaubanLinuxHost

/// Runs each part of a task on a separate thread. The caller may be on one of the few threads that all tasks share: if all of those waited
/// here for work that only they could do, none would proceed.
private final class OwnThreads: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        Thread { job.runSynchronously(on: executor) }.start()
    }
}

/// Does the work and waits for its result.
func waitFor<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value {
    let result = BlockingResult<Value>()
    Task(executorPreference: OwnThreads()) { result.set(await work()) }
    return result.wait()
}
