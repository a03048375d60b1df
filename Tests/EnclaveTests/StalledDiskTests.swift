import Dispatch
import Enclave
import Foundation
import Glibc
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanUserModel

/// A disk that does not answer for one user does not hold up others: neither a vault that is read, nor one that is written, nor the sweep
/// that locks all vaults before the machine sleeps.
@Suite struct StalledDiskTests {
    private let bench = Workbench()
    private static let stalled: UInt32 = 1
    private static let other: UInt32 = 2

    private struct Stall {
        let store: StallingStore
        let vaults: Vaults

        init(_ bench: Workbench) {
            store = StallingStore(bench.store, of: StalledDiskTests.stalled)
            vaults = Vaults(
                host: EnclaveHost(
                    backend: bench.device, store: store, clock: bench.clock,
                    stretcher: PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1))))
        }

        /// Starts work that reaches the stalled user's disk and blocks there.
        func begin(_ body: @escaping @Sendable (Vaults) -> Void) -> DispatchGroup {
            let group = DispatchGroup()
            let vaults = vaults
            group.enter()
            Thread.detachNewThread {
                body(vaults)
                group.leave()
            }
            store.waitUntilStalled()
            return group
        }
    }

    @Test("While one user's files are being read, another user is served")
    func stalledReadDoesNotBlockOtherUsers() throws {
        for user in [Self.stalled, Self.other] { try bench.start(user).setPasscode(secret(Workbench.passcode)) }
        let stall = Stall(bench)
        stall.store.stall()
        let group = stall.begin { _ = $0.vault(of: Self.stalled).status }
        let vault = stall.vaults.vault(of: Self.other)
        try vault.unlock(secret(Workbench.passcode))
        #expect(vault.status.lock == .unlocked)
        #expect(stall.vaults.all.map(\.user) == [Self.other] && stall.vaults.known(Self.stalled) == nil)
        stall.store.release()
        group.wait()
        #expect(stall.vaults.known(Self.stalled)?.status.lock == .beforeFirstUnlock)
    }

    @Test("While one user's attempt is being recorded, another user unlocks")
    func stalledWriteDoesNotBlockOtherUsers() throws {
        for user in [Self.stalled, Self.other] { try bench.start(user).setPasscode(secret(Workbench.passcode)) }
        let stall = Stall(bench)
        let first = stall.vaults.vault(of: Self.stalled)
        stall.store.stall()
        let group = stall.begin { _ = refusal { [vault = $0.vault(of: Self.stalled)] in try vault.unlock(secret(Workbench.passcode)) } }
        try stall.vaults.vault(of: Self.other).unlock(secret(Workbench.passcode))
        stall.store.release()
        group.wait()
        #expect(first.status.lock == .unlocked)
    }

    @Test("Sleep locks all other users at once, and the stalled one as soon as its disk answers")
    func sleepLocksOtherUsersAtOnce() throws {
        let stall = Stall(bench)
        for user in [Self.stalled, Self.other] { try stall.vaults.vault(of: user).setPasscode(secret(Workbench.passcode)) }
        let first = stall.vaults.vault(of: Self.stalled), second = stall.vaults.vault(of: Self.other)
        let sweep = VaultSweep()
        let completed = Mutex<[UInt32]>([])
        let isComplete = DispatchSemaphore(value: 0)
        stall.store.stall()
        let group = stall.begin { _ = refusal { [vault = $0.vault(of: Self.stalled)] in try vault.unlock(secret("wrong one")) } }
        for _ in 1...3 {
            sweep.deliver(.machineSleeps, to: stall.vaults.all, timeout: 1_000_000) { handled in
                // The effects are taken with the event, so that nobody waits for the vault once more.
                #expect(handled.allSatisfy { $0.effects.ended != nil })
                completed.withLock { $0 += handled.map { $0.vault.user } }
                if handled.contains(where: { $0.vault.user == Self.stalled }) { isComplete.signal() }
            }
        }
        #expect(second.status.lock == .locked)
        #expect(completed.withLock { $0 } == [Self.other, Self.other, Self.other] && sweep.isPending(Self.stalled))
        // The time of the next expiration does not wait for it either.
        _ = (first.nextExpiration, second.applyExpirations(), second.nextExpiration)
        stall.store.release()
        group.wait()
        isComplete.wait()
        #expect(first.status.lock == .locked)
        // The event was reported three times and delivered once.
        while sweep.isPending(Self.stalled) { sched_yield() }
        #expect(completed.withLock { $0.count { $0 == Self.stalled } } == 1)
    }
}
