import Enclave
import EnclaveWire
import Testing
import VaubanAccessPolicy
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// Grace period, idleness, the screen and sleep, by the clocks alone and without a timer.
@Suite struct SettingsTests {
    private let bench = Workbench()

    private func start(grace: Int64 = 0, idle: Int64 = 0, screen: Bool = false) throws -> Vault {
        let vault = try bench.startProtected()
        try vault.configure(
            LockSettings(graceSeconds: grace, idleSeconds: idle, locksWithScreen: screen), passcode: secret(Workbench.passcode))
        _ = vault.takeEndedEpoch()
        return vault
    }

    private func expectLocked(_ vault: Vault, _ cause: DeviceStatus.Cause, sourceLocation: SourceLocation = #_sourceLocation) {
        let status = vault.status
        #expect(status.lock == .locked && status.cause == cause, sourceLocation: sourceLocation)
        #expect(vault.takeEndedEpoch()?.everything == false, sourceLocation: sourceLocation)
    }

    /// The next use of any kind finds the keys erased, and leased keys are recalled. The test does not read the status before, which would
    /// itself be a use.
    @Test("An expiration locks before the next use of any kind", arguments: EveryUse.syncing, ["slept", "idle", "screen"])
    func expirationLocksBeforeTheNextUse(_ use: EveryUse, _ why: String) throws {
        let vault = try start(grace: 30, idle: 600, screen: true)
        switch why {
        case "slept": bench.clock.suspend(seconds: 32)
        case "idle": bench.clock.advance(seconds: 600)
        default:
            vault.handleScreenLock()
            bench.clock.advance(seconds: 30)
        }
        _ = refusal { try use.perform(vault) }
        let ended = vault.takeEndedEpoch()
        #expect(ended != nil)
        #expect(vault.status.lock == .locked && vault.takeEndedEpoch() == nil)
    }

    @Test("Settings are stored and need the passcode") func settingsAreKeptAndNeedThePasscode() throws {
        let vault = try start(grace: 5, idle: 60, screen: true)
        let kept = LockSettings(graceSeconds: 5, idleSeconds: 60, locksWithScreen: true)
        #expect(vault.status.settings == kept && bench.start().status.settings == kept)
        #expect(refusal { try vault.configure(.standard, passcode: secret("wrong one")) }?.attemptsLeft == 4)
        #expect(vault.status.settings == kept)
        try vault.removePasscode(secret(Workbench.passcode))
        #expect(vault.status.settings == kept)
        try vault.eraseWith(nil)
        #expect(vault.status.settings == .standard)
    }

    @Test("Idleness counts from the last use; reading the status is none") func idleTimeCountsFromTheLastUseAndStatusIsNoUse() throws {
        let vault = try start(idle: 60)
        let row = try SealedRow(bench.row(), in: vault)
        for _ in 1...3 {
            bench.clock.advance(seconds: 59)
            #expect(try vault.read(row) == row.key)
        }
        bench.clock.advance(seconds: 59)
        #expect(vault.status.lock == .unlocked && vault.applyExpirations() == bench.clock.boot + 1_000_000_000)
        bench.clock.advance(seconds: 1)
        expectLocked(vault, .idle)
        // A locked device waits for nothing, and an unlock starts over.
        #expect(vault.applyExpirations() == nil)
        try vault.unlock(secret(Workbench.passcode))
        #expect(vault.applyExpirations() == bench.clock.boot + 60_000_000_000)
    }

    /// A program that repeatedly checks whether it could prompt, or that guesses, does not count as activity of the user.
    @Test("Reading state and wrong passcodes do not delay the idle lock") func statusRequestsAndWrongAttemptsDoNotExtendTheUnlock() throws {
        let vault = try start(idle: 60)
        bench.clock.advance(seconds: 59)
        try vault.canEvaluate(.biometryOrPasscode)
        #expect(refusal { _ = try vault.authenticate(secret("wrong one")) }?.reason == .authenticationFailed)
        vault.recordFingerMiss()
        bench.clock.advance(seconds: 1)
        expectLocked(vault, .idle)
    }

    @Test("By default, time alone does not lock") func withoutSettingsTimeAloneLocksNothing() throws {
        let vault = try start()
        // The private halves of older pairs are discarded after a while, even if rows may still need them.
        #expect(vault.applyExpirations() == bench.clock.boot + EnclaveLimits.resealingPeriod + 1)
        try bench.retireOlderKeys(in: vault)
        #expect(vault.applyExpirations() == nil)
        bench.clock.advance(seconds: 30 * 24 * 3600)
        vault.handleScreenLock()
        #expect(vault.status.lock == .unlocked)
    }

    @Test("Unannounced sleep locks at the next use") func unannouncedSleepIsDetected() throws {
        for grace in [0, 30] as [Int64] {
            let bench = Workbench(), other = try bench.startProtected()
            try other.configure(
                LockSettings(graceSeconds: grace, idleSeconds: 0, locksWithScreen: false), passcode: secret(Workbench.passcode))
            bench.clock.suspend(seconds: UInt64(grace) + 1)
            #expect(other.status.lock == .unlocked)
            // Short sleeps are not added up: the time was checked at each one.
            bench.clock.suspend(seconds: UInt64(grace) + 1)
            #expect(other.status.lock == .unlocked)
            bench.clock.suspend(seconds: UInt64(grace) + 2)
            #expect(other.status.lock == .locked && other.status.cause == .slept)
        }
    }

    @Test("Announced sleep locks at once or after the grace period") func announcedSleepLocksAtOnceOrAfterTheGrace() throws {
        let vault = try start()
        vault.handleSleep()
        expectLocked(vault, .slept)
        let other = Workbench(), unattended = try other.startProtected()
        try unattended.configure(
            LockSettings(graceSeconds: 30, idleSeconds: 0, locksWithScreen: false), passcode: secret(Workbench.passcode))
        unattended.handleSleep()
        #expect(unattended.status.lock == .unlocked)
        other.clock.suspend(seconds: 40)
        #expect(unattended.status.lock == .locked)
    }

    @Test("The screen lock locks after the grace period unless the user returns") func theScreenLocksAfterTheGraceUnlessTheUserIsBack()
        throws
    {
        let vault = try start(grace: 30, screen: true)
        try bench.retireOlderKeys(in: vault)
        vault.handleScreenLock()
        bench.clock.advance(seconds: 29)
        vault.handleScreenUnlock()
        bench.clock.advance(seconds: 100)
        #expect(vault.status.lock == .unlocked && vault.applyExpirations() == nil)
        vault.handleScreenLock()
        let due = bench.clock.boot + 30_000_000_000
        bench.clock.advance(seconds: 20)
        vault.handleScreenLock()
        #expect(vault.applyExpirations() == due)
        bench.clock.advance(seconds: 10)
        expectLocked(vault, .screenLocked)
    }

    @Test("The screen lock locks at once without a grace period, and only if chosen")
    func theScreenLocksAtOnceWithoutAGraceAndOnlyIfChosen() throws {
        let vault = try start(screen: true)
        vault.handleScreenLock()
        expectLocked(vault, .screenLocked)
        vault.handleScreenUnlock()
        #expect(vault.status.lock == .locked)
    }

    @Test("Without a passcode nothing locks") func withoutAPasscodeNothingLocks() throws {
        let vault = try start(grace: 0, idle: 1, screen: true)
        try vault.removePasscode(secret(Workbench.passcode))
        vault.handleScreenLock()
        vault.handleSleep()
        bench.clock.suspend(seconds: 1000)
        #expect(vault.status.lock == .unlocked && vault.applyExpirations() == nil)
    }
}
