import Enclave
import EnclaveWire
import Testing
import VaubanAccessPolicy
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// Grace, idleness, the screen and sleep, by the clocks alone: no timer is asked.
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

    /// Whichever use comes first finds the keys gone, and what was lent is called back. Nothing here asks for the status
    /// before, which would be a use itself.
    @Test(arguments: EveryUse.settling, ["slept", "idle", "screen"])
    func timeLocksBeforeTheFirstUseWhicheverItIs(_ use: EveryUse, _ why: String) throws {
        let vault = try start(grace: 30, idle: 600, screen: true)
        switch why {
        case "slept": bench.clock.suspend(seconds: 32)
        case "idle": bench.clock.advance(seconds: 600)
        default:
            vault.screenLocked()
            bench.clock.advance(seconds: 30)
        }
        _ = refusal { try use.carryOut(vault) }
        let ended = vault.takeEndedEpoch()
        #expect(ended != nil)
        #expect(vault.status.lock == .locked && vault.takeEndedEpoch() == nil)
    }

    @Test func settingsAreKeptAndNeedThePasscode() throws {
        let vault = try start(grace: 5, idle: 60, screen: true)
        let kept = LockSettings(graceSeconds: 5, idleSeconds: 60, locksWithScreen: true)
        #expect(vault.status.settings == kept && bench.start().status.settings == kept)
        #expect(refusal { try vault.configure(.standard, passcode: secret("wrong one")) }?.triesLeft == 4)
        #expect(vault.status.settings == kept)
        try vault.removePasscode(secret(Workbench.passcode))
        #expect(vault.status.settings == kept)
        try vault.eraseWith(nil)
        #expect(vault.status.settings == .standard)
    }

    @Test func idlenessCountsFromTheLastUseAndTheStatusIsNone() throws {
        let vault = try start(idle: 60)
        let row = try SealedRow(bench.row(), in: vault)
        for _ in 1...3 {
            bench.clock.advance(seconds: 59)
            #expect(try vault.read(row) == row.key)
        }
        bench.clock.advance(seconds: 59)
        #expect(vault.status.lock == .unlocked && vault.settle() == bench.clock.boot + 1_000_000_000)
        bench.clock.advance(seconds: 1)
        expectLocked(vault, .idle)
        // A device that is locked waits for nothing, and an unlock begins anew.
        #expect(vault.settle() == nil)
        try vault.unlock(secret(Workbench.passcode))
        #expect(vault.settle() == bench.clock.boot + 60_000_000_000)
    }

    /// Whoever asks again and again whether they could ask, or guesses, is not the user at work.
    @Test func looksAndWrongGuessesKeepNothingOpen() throws {
        let vault = try start(idle: 60)
        bench.clock.advance(seconds: 59)
        try vault.canEvaluate(.biometryOrPasscode)
        #expect(refusal { _ = try vault.authenticate(secret("wrong one")) }?.reason == .authenticationFailed)
        vault.fingerMissed()
        bench.clock.advance(seconds: 1)
        expectLocked(vault, .idle)
    }

    @Test func withoutSettingsTimeAloneLocksNothing() throws {
        let vault = try start()
        // The private halves of older pairs are forgotten after a while, where rows may still need them.
        #expect(vault.settle() == bench.clock.boot + EnclaveLimits.resealingTime + 1)
        try bench.retireOlderKeys(in: vault)
        #expect(vault.settle() == nil)
        bench.clock.advance(seconds: 30 * 24 * 3600)
        vault.screenLocked()
        #expect(vault.status.lock == .unlocked)
    }

    @Test func sleepThatNobodyAnnouncedIsSeen() throws {
        for grace in [0, 30] as [Int64] {
            let bench = Workbench(), other = try bench.startProtected()
            try other.configure(
                LockSettings(graceSeconds: grace, idleSeconds: 0, locksWithScreen: false), passcode: secret(Workbench.passcode))
            bench.clock.suspend(seconds: UInt64(grace) + 1)
            #expect(other.status.lock == .unlocked)
            // Naps are not added up: each was looked at.
            bench.clock.suspend(seconds: UInt64(grace) + 1)
            #expect(other.status.lock == .unlocked)
            bench.clock.suspend(seconds: UInt64(grace) + 2)
            #expect(other.status.lock == .locked && other.status.cause == .slept)
        }
    }

    @Test func announcedSleepLocksAtOnceOrAfterTheGrace() throws {
        let vault = try start()
        vault.machineSleeps()
        expectLocked(vault, .slept)
        let other = Workbench(), patient = try other.startProtected()
        try patient.configure(LockSettings(graceSeconds: 30, idleSeconds: 0, locksWithScreen: false), passcode: secret(Workbench.passcode))
        patient.machineSleeps()
        #expect(patient.status.lock == .unlocked)
        other.clock.suspend(seconds: 40)
        #expect(patient.status.lock == .locked)
    }

    @Test func theScreenLocksAfterTheGraceUnlessTheUserIsBack() throws {
        let vault = try start(grace: 30, screen: true)
        try bench.retireOlderKeys(in: vault)
        vault.screenLocked()
        bench.clock.advance(seconds: 29)
        vault.screenUnlocked()
        bench.clock.advance(seconds: 100)
        #expect(vault.status.lock == .unlocked && vault.settle() == nil)
        vault.screenLocked()
        let due = bench.clock.boot + 30_000_000_000
        bench.clock.advance(seconds: 20)
        vault.screenLocked()
        #expect(vault.settle() == due)
        bench.clock.advance(seconds: 10)
        expectLocked(vault, .screenLocked)
    }

    @Test func theScreenLocksAtOnceWithoutAGraceAndOnlyIfChosen() throws {
        let vault = try start(screen: true)
        vault.screenLocked()
        expectLocked(vault, .screenLocked)
        vault.screenUnlocked()
        #expect(vault.status.lock == .locked)
    }

    @Test func withoutAPasscodeNothingLocks() throws {
        let vault = try start(grace: 0, idle: 1, screen: true)
        try vault.removePasscode(secret(Workbench.passcode))
        vault.screenLocked()
        vault.machineSleeps()
        bench.clock.suspend(seconds: 1000)
        #expect(vault.status.lock == .unlocked && vault.settle() == nil)
    }
}
