import Dispatch
import Synchronization
import TestSupport
import Testing
import Witness

/// One user's requests do not hold up another user's.
@Suite struct RequestQueueTests {
    @Test("A user with hanging requests blocks only their own requests") func userWithHangingRequestsBlocksOnlyThemselves() {
        let queue = RequestQueue(limit: (total: 4, perUser: 2, waitingPerUser: 3))
        let hanging = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        let worked = Mutex(0)
        let hang: RequestQueue.Work = {
            hanging.wait()
            worked.withLock { $0 += 1 }
            done.signal()
        }
        // Two are being served, three wait, and more are refused.
        for _ in 0..<5 { #expect(queue.take(of: 1, hang)) }
        #expect(!queue.take(of: 1, hang))
        // Another user's requests are still served, in sequence and in parallel.
        let other = DispatchSemaphore(value: 0)
        for _ in 0..<10 {
            #expect(queue.take(of: 2) { other.signal() })
            #expect(other.wait(timeout: .now() + HangLimit.seconds) == .success)
        }
        #expect(worked.withLock { $0 } == 0)
        for _ in 0..<5 { hanging.signal() }
        for _ in 0..<5 { #expect(done.wait(timeout: .now() + HangLimit.seconds) == .success) }
        #expect(queue.take(of: 1) { done.signal() })
        #expect(done.wait(timeout: .now() + HangLimit.seconds) == .success)
    }

    @Test("Neither the limit of a user nor that of all is exceeded") func neitherLimitIsExceeded() {
        let queue = RequestQueue(limit: (total: 3, perUser: 2, waitingPerUser: 1000))
        let state = Mutex((now: [UInt32: Int](), most: 0, mostOfOne: 0))
        let done = DispatchSemaphore(value: 0)
        for index in 0..<300 {
            let user = UInt32(index % 5)
            #expect(
                queue.take(of: user) {
                    state.withLock {
                        $0.now[user, default: 0] += 1
                        $0.most = max($0.most, $0.now.values.reduce(0, +))
                        $0.mostOfOne = max($0.mostOfOne, $0.now[user] ?? 0)
                    }
                    state.withLock { $0.now[user, default: 0] -= 1 }
                    done.signal()
                })
        }
        for _ in 0..<300 { #expect(done.wait(timeout: .now() + HangLimit.seconds) == .success) }
        #expect(state.withLock { $0.most } <= 3 && state.withLock { $0.mostOfOne } <= 2)
    }
}
