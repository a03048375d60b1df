import Dispatch
import Enclave
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanKeyWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// Derivations run one at a time, and none for a caller that has ended: with threads, connections and processes, and at the shipped cost.
@Suite struct DerivationQueueTests {
    private let bench = Workbench()

    /// A derivation that runs first, until it is released.
    private final class Holder: Sendable {
        private let mayContinue = DispatchSemaphore(value: 0)
        private let isOver = DispatchSemaphore(value: 0)

        init(_ queue: DerivationQueue) throws {
            let begun = DispatchSemaphore(value: 0)
            let place = try queue.enter(.passcode, of: 1)
            Thread.detachNewThread { [self] in
                _ = refusal {
                    try queue.withTurn(place, for: .unattended) {
                        begun.signal(); mayContinue.wait()
                    }
                }
                queue.leave(place)
                isOver.signal()
            }
            begun.wait()
        }

        func release() {
            mayContinue.signal()
            isOver.wait()
        }
    }

    /// A request on a separate thread, and its outcome.
    private final class ConsentRequest: Sendable {
        private let group = DispatchGroup()
        private let result = Mutex<(isRun: Bool, reason: Refusal.Reason?)>((false, nil))

        init(_ queue: DerivationQueue, owner: UInt32, requester: sending DerivationRequester) throws {
            let place = try queue.enter(.applicationPassword, of: owner)
            let before = queue.waitingCount
            group.enter()
            let given = Given(requester)
            Thread.detachNewThread { [self] in
                let reason = refusal { try queue.withTurn(place, for: given.requester) { result.withLock { $0.isRun = true } } }?.reason
                queue.leave(place)
                result.withLock { $0.reason = reason }
                group.leave()
            }
            // From here on it is in the queue, or has left it already.
            while queue.waitingCount == before, group.wait(timeout: .now()) == .timedOut { sched_yield() }
        }

        /// `@unchecked Sendable`: passed to one thread, and not used here again.
        private struct Given: @unchecked Sendable {
            let requester: DerivationRequester
            init(_ requester: DerivationRequester) { self.requester = requester }
        }

        var end: (isRun: Bool, reason: Refusal.Reason?) {
            group.wait()
            return result.withLock { $0 }
        }
    }

    private func socketPair() throws -> (Descriptor, Descriptor) {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        return (Descriptor(ends[0]), Descriptor(ends[1]))
    }

    @Test("A derivation whose caller hung up leaves the queue without running")
    func hangUpLeavesTheQueue() throws {
        let queue = DerivationQueue()
        let holder = try Holder(queue)
        let (own, others) = try socketPair()
        let asking = try ConsentRequest(queue, owner: 2, requester: DerivationRequester(connection: own, process: nil, reportWaiting: {}))
        shutdown(others.number, Int32(SHUT_RDWR))
        #expect(asking.end == (false, .cancelled) && queue.waitingCount == 0)
        holder.release()
    }

    @Test("A derivation whose caller's process ended leaves the queue, even if its connection is open")
    func endedProcessLeavesTheQueue() throws {
        let queue = DerivationQueue()
        let holder = try Holder(queue)
        let (own, others) = try socketPair()
        let process = Process()
        let input = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/cat")
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let asking = try ConsentRequest(
            queue, owner: 2,
            requester: DerivationRequester(
                connection: own, process: try ProcessDescriptor.open(process.processIdentifier), reportWaiting: {})
        )
        kill(process.processIdentifier, SIGKILL)
        withExtendedLifetime(others) { #expect(asking.end == (false, .cancelled)) }
        holder.release()
    }

    @Test("A derivation whose caller hangs up at its turn is skipped, and the next one runs")
    func hangUpAtItsTurnIsNotRun() throws {
        for _ in 0..<50 {
            let queue = DerivationQueue()
            let holder = try Holder(queue)
            let (own, others) = try socketPair()
            let gone = try ConsentRequest(queue, owner: 2, requester: DerivationRequester(connection: own, process: nil, reportWaiting: {}))
            let next = try ConsentRequest(queue, owner: 3, requester: .unattended)
            shutdown(others.number, Int32(SHUT_RDWR))
            holder.release()
            #expect(gone.end == (false, .cancelled) && next.end == (true, nil))
        }
    }

    @Test("A long wait is reported repeatedly")
    func waitingCallerIsNotified() throws {
        let queue = DerivationQueue()
        let holder = try Holder(queue)
        let told = DispatchSemaphore(value: 0)
        let asking = try ConsentRequest(
            queue, owner: 2, requester: DerivationRequester(connection: nil, process: nil, reportWaiting: { told.signal() }))
        for _ in 0..<2 { #expect(told.wait(timeout: .now() + HangLimit.seconds) == .success) }
        holder.release()
        #expect(asking.end == (true, nil))
    }

    @Test("A derivation whose caller can no longer be notified leaves the queue")
    func callerThatCannotBeNotifiedLeavesTheQueue() throws {
        let queue = DerivationQueue()
        let holder = try Holder(queue)
        struct Gone: Error {}
        #expect(
            try ConsentRequest(
                queue, owner: 2, requester: DerivationRequester(connection: nil, process: nil, reportWaiting: { throw Gone() })
            ).end == (
                false, .cancelled
            ))
        holder.release()
    }

    /// The attack: sixteen users add items with an application password, at the shipped cost. Only the derivation that runs when the unlock
    /// arrives precedes it, and when they hang up none of their derivations is left.
    @Test("In a flood by sixteen users at the shipped cost, an unlock waits only for the running derivation")
    func anUnlockInAFloodWithTheShippedCost() throws {
        let host = EnclaveHost(
            backend: bench.device, store: bench.store, clock: SystemClockForTests(), stretcher: PasscodeStretcher(.shipped))
        let victim = Vault(user: 1, host: host)
        try victim.setPasscode(secret(Workbench.passcode))
        try victim.lock()
        let (own, others) = try socketPair()
        let ended = Mutex<[String]>([])
        let group = DispatchGroup()
        for user in 2000..<2016 as Range<UInt32> {
            for _ in 0..<EnclaveLimits.applicationDerivationsWaitingMax {
                group.enter()
                Thread.detachNewThread {
                    let requester = DerivationRequester(connection: own, process: nil, reportWaiting: {})
                    let reason = refusal {
                        let vault = Vault(user: user, host: host)
                        _ = try vault.makeKey(
                            .p256, try AccessControl(protection: .always, flags: .applicationPassword),
                            password: secret("of an application"), for: requester)
                    }?.reason
                    ended.withLock { $0.append(reason.map { "\($0)" } ?? "served") }
                    group.leave()
                }
            }
        }
        // If it were not first, one turn for each of the sixteen owners would precede it.
        while host.derivations.waitingCount < 32 { sched_yield() }
        let before = host.derivations.turnsBegun
        try victim.unlock(secret(Workbench.passcode))
        // This one, and those that began before it was requested and after it was answered; `DerivationOrderTests` tests this exactly.
        #expect(host.derivations.turnsBegun - before <= 10)
        #expect(victim.status.lock == .unlocked)
        shutdown(others.number, Int32(SHUT_RDWR))
        #expect(group.wait(timeout: .now() + HangLimit.seconds) == .success)
        let reasons = ended.withLock { $0 }
        #expect(reasons.count { $0 == "cancelled" } >= 16 && reasons.allSatisfy { ["cancelled", "served"].contains($0) })
        #expect(host.derivations.waitingCount == 0)
        try victim.lock()
        try victim.unlock(secret(Workbench.passcode))
    }
}

/// The machine's clock, by which the cost is measured.
private struct SystemClockForTests: EnclaveClock {
    var boot: UInt64 { MachineClock.boot }
    var monotonic: UInt64 { MachineClock.monotonic }
    var referenceMicroseconds: Int64 { MachineClock.referenceMicroseconds }
}
