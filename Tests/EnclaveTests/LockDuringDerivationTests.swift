import Dispatch
import Enclave
import Foundation
import Glibc
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanPasscode
import VaubanRefusal
import VaubanUserModel

/// A lock that comes after a passcode was entered wins, even if the passcode's derivation ends after the lock.
@Suite struct LockDuringDerivationTests {
    private let bench = Workbench()
    private let host: EnclaveHost
    private let vault: Vault

    init() throws {
        host = bench.host
        vault = Vault(user: Workbench.user, host: host)
        let key: RecoveryKey? = Self.recoveryKey
        try vault.setPasscode(secret(Workbench.passcode), recoveryKey: key)
    }

    private static var recoveryKey: RecoveryKey { RecoveryKey(random: secret("sixteen letters!")) }

    private func configure(grace: Int64 = 0, idle: Int64 = 0, screen: Bool = false) throws {
        try vault.configure(
            LockSettings(graceSeconds: grace, idleSeconds: idle, locksWithScreen: screen), passcode: secret(Workbench.passcode))
    }

    /// Carries out a call while another user's derivation runs, and `meanwhile` once the call's own derivation waits behind that. Returns
    /// the call's refusal; nil if it succeeded.
    private func queued(_ call: @escaping @Sendable (Vault) throws -> Void, meanwhile: () throws -> Void) throws -> Refusal? {
        let begun = DispatchSemaphore(value: 0), mayContinue = DispatchSemaphore(value: 0)
        let group = DispatchGroup()
        let outcome = Mutex<Refusal?>(nil)
        let (host, vault) = (host, vault)
        let place = try host.derivations.enter(.passcode, of: Workbench.user + 1)
        Thread.detachNewThread {
            _ = refusal {
                try host.derivations.withTurn(place, for: .unattended) {
                    begun.signal(); mayContinue.wait()
                }
            }
            host.derivations.leave(place)
        }
        begun.wait()
        group.enter()
        Thread.detachNewThread {
            let end = refusal { try call(vault) }
            outcome.withLock { $0 = end }
            group.leave()
        }
        while host.derivations.waitingCount == 0, group.wait(timeout: .now()) == .timedOut { sched_yield() }
        #expect(host.derivations.waitingCount == 1)
        let problem = Result { try meanwhile() }
        mayContinue.signal()
        group.wait()
        try problem.get()
        return outcome.withLock { $0 }
    }

    private static let unlocking: @Sendable (Vault) throws -> Void = { try $0.unlock(secret(Workbench.passcode)) }

    private func expectRefused(_ refused: Refusal?, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(refused?.reason == .locked, sourceLocation: sourceLocation)
        let detail = "it was locked while the passcode was checked; to enter it again, run: vauban unlock"
        #expect(refused?.detail == detail, sourceLocation: sourceLocation)
        let status = vault.status
        // The passcode was right, so it cost no attempt.
        #expect(status.lock == .locked && status.attemptsLeft == 5 && status.secondsToWait == 0, sourceLocation: sourceLocation)
        // Entered after the lock, it unlocks.
        try vault.unlock(secret(Workbench.passcode))
        #expect(vault.status.lock == .unlocked, sourceLocation: sourceLocation)
    }

    @Test("Without a lock, a queued unlock unlocks") func withoutALockItUnlocks() throws {
        try vault.lock()
        #expect(try queued(Self.unlocking, meanwhile: {}) == nil)
        #expect(vault.status.lock == .unlocked)
    }

    @Test("A lock while an unlock is queued keeps a locked keychain locked") func lockOfALockedKeychainWins() throws {
        try vault.lock()
        try expectRefused(try queued(Self.unlocking) { try vault.lock() })
    }

    @Test("A lock while an unlock is queued locks an unlocked keychain for good") func lockOfAnUnlockedKeychainWins() throws {
        try expectRefused(try queued(Self.unlocking) { try vault.lock() })
    }

    @Test("Before the first unlock, a lock wins too") func lockBeforeTheFirstUnlockWins() throws {
        let restarted = Vault(user: Workbench.user, host: host)
        let call: @Sendable (Vault) throws -> Void = { _ in try restarted.unlock(secret(Workbench.passcode)) }
        #expect(try queued(call) { try restarted.lock() }?.reason == .locked)
        #expect(restarted.status.lock == .beforeFirstUnlock)
        try restarted.unlock(secret(Workbench.passcode))
    }

    @Test("Announced and unannounced sleep while an unlock is queued win", arguments: [true, false], [true, false])
    func sleepWins(_ isAnnounced: Bool, _ isLocked: Bool) throws {
        if isLocked { try vault.lock() }
        try expectRefused(
            try queued(Self.unlocking) {
                if isAnnounced { vault.handleSleep() } else { bench.clock.suspend(seconds: 60) }
            })
    }

    @Test("A sleep within the grace period, and one before the passcode was entered, do not refuse it")
    func otherSleepDoesNotCount() throws {
        try configure(grace: 120)
        try vault.lock()
        #expect(try queued(Self.unlocking) { bench.clock.suspend(seconds: 60) } == nil)
        try vault.lock()
        bench.clock.suspend(seconds: 1000)
        #expect(try queued(Self.unlocking, meanwhile: {}) == nil)
        #expect(vault.status.lock == .unlocked)
    }

    @Test("A screen lock while an unlock is queued wins, also with a grace period", arguments: [0, 30] as [Int64])
    func screenLockWins(_ grace: Int64) throws {
        try configure(grace: grace, screen: true)
        try vault.lock()
        try expectRefused(try queued(Self.unlocking) { vault.handleScreenLock() })
    }

    @Test("A screen that does not lock the keychain refuses no unlock") func otherScreenDoesNotCount() throws {
        try vault.lock()
        #expect(try queued(Self.unlocking) { vault.handleScreenLock() } == nil)
    }

    /// Entered before the screen was locked, the passcode does not show that the user is back.
    @Test("A queued unlock does not cancel a lock that waits for its grace period") func queuedUnlockDoesNotCancelAPendingLock() throws {
        try configure(grace: 30, screen: true)
        #expect(try queued(Self.unlocking) { vault.handleScreenLock() } == nil)
        bench.clock.advance(seconds: 29)
        #expect(vault.status.lock == .unlocked)
        bench.clock.advance(seconds: 1)
        #expect(vault.status.lock == .locked && vault.status.cause == .screenLocked)
    }

    @Test("A repeated report of a screen lock does not void a passcode that was entered after the first", arguments: [0, 30] as [Int64])
    func repeatedScreenLockDoesNotCount(_ grace: Int64) throws {
        try configure(grace: grace, screen: true)
        vault.handleScreenLock()
        #expect(try queued(Self.unlocking) { for _ in 1...3 { vault.handleScreenLock() } } == nil)
        bench.clock.advance(seconds: 60)
        #expect(vault.status.lock == .unlocked)
    }

    @Test("After the screen was unlocked, or the keychain, the next screen lock counts", arguments: [0, 30] as [Int64], [true, false])
    func nextScreenLockCounts(_ grace: Int64, _ ofScreen: Bool) throws {
        try configure(grace: grace, screen: true)
        vault.handleScreenLock()
        if ofScreen { vault.handleScreenUnlock() } else { try vault.unlock(secret(Workbench.passcode)) }
        try vault.lock()
        try expectRefused(try queued(Self.unlocking) { vault.handleScreenLock() })
    }

    /// While no watcher is connected, or it sees no login manager, nobody reports that the screen was unlocked.
    @Test("After the watcher was lost or came back, the next screen lock counts", arguments: [0, 30] as [Int64])
    func screenLockAfterTheWatcherCounts(_ grace: Int64) throws {
        try configure(grace: grace, screen: true)
        let sweep = VaultSweep()
        vault.handleScreenLock()
        sweep.deliver(.screenIsUnknown, to: [vault]) { _ in }
        // A lock that is due remains so.
        #expect(vault.status.lock == (grace == 0 ? LockState.locked : .unlocked))
        bench.clock.advance(seconds: UInt64(grace))
        #expect(vault.status.lock == .locked && vault.status.cause == .screenLocked)
        try expectRefused(try queued(Self.unlocking) { vault.handleScreenLock() })
    }

    @Test("The end of a grace period that began before the passcode was entered does not refuse it") func endOfGraceDoesNotCount() throws {
        try configure(grace: 30, screen: true)
        vault.handleScreenLock()
        let refused = try queued(Self.unlocking) {
            bench.clock.advance(seconds: 30)
            #expect(vault.status.lock == .locked && vault.status.cause == .screenLocked)
        }
        #expect(refused == nil && vault.status.lock == .unlocked)
    }

    /// Nothing shows better than an entered passcode that the user is here.
    @Test("The idle timeout while an unlock is queued does not refuse it") func idleTimeoutDoesNotCount() throws {
        try configure(idle: 600)
        let refused = try queued(Self.unlocking) {
            bench.clock.advance(seconds: 600)
            #expect(vault.status.lock == .locked && vault.status.cause == .idle)
        }
        #expect(refused == nil && vault.status.lock == .unlocked)
    }

    @Test("If the keychain was unlocked again since, an earlier passcode leaves it so") func laterUnlockStays() throws {
        try vault.lock()
        let mark = vault.lockMark
        let key = try vault.authenticate(secret(Workbench.passcode))
        try vault.lock()
        #expect(refusal { try vault.unlock(withKey: key, enteredAt: mark) }?.reason == .locked)
        #expect(vault.status.lock == .locked)
        try vault.unlock(secret(Workbench.passcode))
        try vault.unlock(withKey: key, enteredAt: mark)
        #expect(vault.status.lock == .unlocked)
    }

    @Test("A wrong passcode is refused as one, locked or not") func wrongPasscodeIsRefusedAsOne() throws {
        let call: @Sendable (Vault) throws -> Void = { try $0.unlock(secret("a wrong passcode")) }
        #expect(try queued(call) { try vault.lock() }?.reason == .authenticationFailed)
        #expect(vault.status.attemptsLeft == 4 && vault.status.lock == .locked)
    }

    private static let recovering: @Sendable (Vault) throws -> Void = { vault in
        let none: RecoveryKey? = nil
        try vault.recover(with: recoveryKey, to: secret(Workbench.otherPasscode), newRecoveryKey: none)
    }

    private func expectRecovered(_ vault: Vault, _ lock: LockState, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let status = vault.status
        #expect(status.lock == lock && status.recovered != nil && !status.recoveryKeyIsSet, sourceLocation: sourceLocation)
        #expect(refusal { try Self.recovering(vault) }?.reason == .recoveryKeyNotSet, sourceLocation: sourceLocation)
        #expect(refusal { try vault.unlock(secret(Workbench.passcode)) }?.reason == .authenticationFailed, sourceLocation: sourceLocation)
        try vault.unlock(secret(Workbench.otherPasscode))
        #expect(vault.status.lock == .unlocked, sourceLocation: sourceLocation)
    }

    /// A program that locks in a loop does not prevent a recovery.
    @Test("A recovery sets the passcode in spite of locks meanwhile, and unlocks nothing", arguments: [true, false])
    func lockDuringARecovery(_ isLocked: Bool) throws {
        if isLocked { try vault.lock() }
        #expect(try queued(Self.recovering) { for _ in 1...20 { try vault.lock() } } == nil)
        try expectRecovered(vault, .locked)
    }

    @Test("Before the first unlock, a lock during a recovery leaves the keychain so") func lockDuringAnEarlyRecovery() throws {
        let restarted = Vault(user: Workbench.user, host: host)
        #expect(try queued({ _ in try Self.recovering(restarted) }, meanwhile: { try restarted.lock() }) == nil)
        try expectRecovered(restarted, .beforeFirstUnlock)
    }

    @Test("Without a lock, a queued recovery unlocks") func recoveryUnlocks() throws {
        try vault.lock()
        #expect(try queued(Self.recovering, meanwhile: {}) == nil)
        #expect(vault.status.lock == .unlocked && vault.status.cause == .recovered)
    }

    @Test("A lock while a removal of the passcode is queued keeps the passcode") func lockDuringARemoval() throws {
        let before = try bench.keybag()
        let call: @Sendable (Vault) throws -> Void = { try $0.removePasscode(secret(Workbench.passcode)) }
        let refused = try queued(call) { try vault.lock() }
        #expect(refused?.reason == .locked && refused?.detail?.hasSuffix("; to enter it again, run: vauban passcode remove") == true)
        #expect(try bench.keybag() == before && vault.status.lock == .locked)
        #expect(try queued(call, meanwhile: {}) == nil)
        #expect(!vault.status.passcodeIsSet)
    }
}
