import Dispatch
import Synchronization
import Testing
import VaubanLinuxHost

/// Work that hangs, such as looking up a name that no server answers.
@Suite struct BoundedWorkTests {
    /// Work that waits for the test, and then returns its key.
    private final class Hanging: Sendable {
        let started = DispatchSemaphore(value: 0)
        private let mayEnd = DispatchSemaphore(value: 0)
        private let count = Mutex(0)

        /// How often it ran.
        var runs: Int { count.withLock { $0 } }

        func run(_ key: Int) -> Int {
            count.withLock { $0 += 1 }
            started.signal()
            mayEnd.wait()
            return key
        }

        func end(_ count: Int) { for _ in 0..<count { mayEnd.signal() } }
    }

    private let hanging: Hanging
    private let work: BoundedWork<Int, Int>

    init() {
        let hanging = Hanging()
        self.hanging = hanging
        work = BoundedWork(max: 2) { hanging.run($0) }
    }

    private func start(_ key: Int) -> Task<Result<Int, BoundedWorkError>, Never> {
        Task { [work] in
            do throws(BoundedWorkError) { return .success(try await work.value(for: key)) } catch { return .failure(error) }
        }
    }

    /// Waits until one more has started, on a thread that may wait. There is no time limit, since the tasks of other tests may hold all
    /// threads on which a task can start.
    private func waitForStart() async {
        await withCheckedContinuation { waiter in
            let started = hanging.started
            DispatchQueue.global().async {
                started.wait()
                waiter.resume()
            }
        }
    }

    @Test("Work beyond the limit is refused while other work hangs, and succeeds afterwards") func surplusIsRefused() async {
        let first = start(1)
        await waitForStart()
        let second = start(2)
        await waitForStart()
        #expect(await start(3).value == .failure(.busy))
        hanging.end(2)
        #expect(await first.value == .success(1))
        #expect(await second.value == .success(2))
        hanging.end(1)
        #expect(await start(3).value == .success(3))
    }

    @Test("Abandoned work counts until it ends") func abandonedWorkCounts() async {
        for key in 1...2 {
            let task = start(key)
            await waitForStart()
            task.cancel()
            #expect(await task.value == .failure(.cancelled))
        }
        #expect(await start(3).value == .failure(.busy))
        // It joins the first run or, if that has just ended, runs once more.
        let again = start(1)
        hanging.end(3)
        #expect(await again.value == .success(1))
    }

    @Test("A request for work that is already running waits for that run, and can be cancelled alone") func workIsShared() async {
        let first = start(1)
        await waitForStart()
        let others = (0..<20).map { _ in start(1) }
        for other in others { other.cancel() }
        for other in others { #expect(await other.value == .failure(.cancelled)) }
        hanging.end(1)
        #expect(await first.value == .success(1))
        #expect(hanging.runs == 1)
    }
}
