import Dispatch
import Testing
import VaubanLinuxHost

@Suite struct LockTests {
    @Test("Many threads change the value one at a time") func manyThreadsChangeTheValueOneAtATime() {
        let sum = ThreadMutex(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<10_000 { sum.withLock { $0 += 1 } }
        }
        #expect(sum.withLock { $0 } == 80_000)
    }

    @Test("A thread that does not wait gets nothing while the lock is held") func nonWaitingThreadGetsNothingWhileTheLockIsHeld() {
        let lock = ThreadMutex("value")
        let answers = lock.withLock { _ in
            let answers = ThreadMutex<[String?]>([])
            DispatchQueue.concurrentPerform(iterations: 2) { _ in
                // One of the two may run on this thread, which holds the lock.
                let answer = lock.withLockIfAvailable { $0 }
                answers.withLock { $0.append(answer) }
            }
            return answers.withLock { $0 }
        }
        #expect(answers == [nil, nil])
        #expect(lock.withLockIfAvailable { $0 } == "value")
    }

    @Test("Two threads read at once, and a writer waits for both") func twoReadAtOnceAndAWriterWaitsForBoth() {
        let shared = SharedMutex([1])
        let bothLook = DispatchSemaphore(value: 0), mayEnd = DispatchSemaphore(value: 0), group = DispatchGroup()
        for _ in 0..<2 {
            DispatchQueue.global().async(group: group) {
                let seen = shared.withSharedLock { value in
                    bothLook.signal()
                    mayEnd.wait()
                    return value
                }
                #expect(seen == [1])
            }
        }
        // Both are inside at the same time, or this never ends.
        bothLook.wait()
        bothLook.wait()
        DispatchQueue.global().async(group: group) { shared.withLock { $0.append(2) } }
        mayEnd.signal()
        mayEnd.signal()
        group.wait()
        #expect(shared.withSharedLock { $0 } == [1, 2])
    }
}
