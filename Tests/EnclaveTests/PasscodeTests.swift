import Enclave
import EnclaveWire
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// Setting, changing and entering the passcode, and the effect of each on the lock.
@Suite struct PasscodeTests {
    private let bench = Workbench()

    @Test("Setting the first passcode leaves the device unlocked") func theFirstPasscodeLeavesTheDeviceUnlocked() throws {
        let vault = bench.start()
        #expect(!vault.status.passcodeIsSet && vault.status.lock == .unlocked && vault.status.cause == .started)
        try vault.setPasscode(secret(Workbench.passcode))
        #expect(vault.takeEndedEpoch() == RecalledEpoch(epoch: 0, everything: true))
        #expect(vault.status.passcodeIsSet && vault.status.lock == .unlocked && vault.status.cause == .passcodeSet)
        #expect(vault.status.attemptsLeft == 5 && vault.status.secondsToWait == 0)
    }

    @Test("A passcode cannot be set twice, only changed") func aSecondPasscodeIsAChangeAndNotASetting() throws {
        let vault = try bench.startProtected()
        let before = bench.store.files
        #expect(refusal { try vault.setPasscode(secret("another passcode")) }?.reason == .passcodeAlreadySet)
        #expect(bench.store.files == before)
    }

    /// Characters are counted, not bytes: five of two bytes each are too few.
    @Test("A short passcode is refused as too weak", arguments: ["", "12345", "äöüßé", "日本語"]) func aShortPasscodeIsTooWeak(
        _ passcode: String
    ) throws {
        let vault = bench.start()
        #expect(refusal { try vault.setPasscode(secret(passcode)) }?.reason == .passcodeTooWeak)
        try vault.setPasscode(secret(Workbench.passcode))
        let change = refusal { try vault.changePasscode(from: secret(Workbench.passcode), to: secret(passcode)) }
        #expect(change?.reason == .passcodeTooWeak)
        #expect(vault.status.attemptsLeft == 5)
    }

    @Test("A passcode has at least 6 characters and at most 1024 bytes")
    func lengthIsLimited() throws {
        _ = try bench.start(1).setPasscode(secret("äöüßéè"))
        let letters = (0..<SealedPasscode.passcodeBytesMax).map { (index: Int) -> UInt8 in UInt8(97 + (index * index + index / 7) % 26) }
        let longest = String(decoding: letters, as: UTF8.self)
        _ = try bench.start(2).setPasscode(secret(longest))
        #expect(refusal { _ = try bench.start(3).setPasscode(secret(longest + "x")) }?.reason == .badParameter)
    }

    @Test("A wrong passcode reports the attempts left") func wrongPasscodeReportsTheAttemptsLeft() throws {
        let vault = try bench.startProtected()
        for left in [4, 3, 2, 1] as [Int64] {
            let answer = refusal { _ = try vault.authenticate(secret("wrong one")) }
            #expect(answer?.reason == .authenticationFailed && answer?.attemptsLeft == left && answer?.secondsToWait == 0)
            #expect(vault.status.attemptsLeft == left)
        }
        let last = refusal { _ = try vault.authenticate(secret("wrong one")) }
        #expect(last?.reason == .authenticationFailed && last?.attemptsLeft == 0 && last?.secondsToWait == 60)
    }

    @Test("A passcode for an operation does not change the lock state") func givingThePasscodeForAnOperationNeverChangesTheLock() throws {
        let vault = try bench.startProtected()
        try vault.lock()
        let since = vault.status.since
        bench.clock.setWall(microseconds: 77)
        _ = try vault.authenticate(secret(Workbench.passcode))
        #expect(vault.status.lock == .locked && vault.status.since == since)

        let restarted = bench.start()
        _ = try restarted.authenticate(secret(Workbench.passcode))
        #expect(restarted.status.lock == .beforeFirstUnlock)
    }

    @Test("Lock and unlock record their cause and time") func lockAndUnlockRecordCauseAndTime() throws {
        let vault = try bench.startProtected()
        bench.clock.setWall(microseconds: 5)
        try vault.lock()
        #expect(vault.status.lock == .locked && vault.status.cause == .lockRequested && vault.status.since == 5)
        bench.clock.setWall(microseconds: 6)
        try vault.lock()
        #expect(vault.status.since == 5)
        #expect(refusal { try vault.unlock(secret("wrong one")) }?.reason == .authenticationFailed)
        #expect(vault.status.lock == .locked)
        try vault.unlock(secret(Workbench.passcode))
        #expect(vault.status.lock == .unlocked && vault.status.cause == .passcodeEntered && vault.status.since == 6)
    }

    /// Invariant 11: nothing outside the enclave's memory spares the user the passcode.
    @Test("A restarted enclave is before first unlock") func aRestartedEnclaveIsBeforeFirstUnlock() throws {
        _ = try bench.startProtected()
        let restarted = bench.start()
        #expect(restarted.status.lock == .beforeFirstUnlock && restarted.status.cause == .started && restarted.status.passcodeIsSet)
        _ = try restarted.lock()
        #expect(restarted.status.lock == .beforeFirstUnlock)
        try restarted.unlock(secret(Workbench.passcode))
        #expect(restarted.status.lock == .unlocked)
    }

    @Test("Changing the passcode needs the old one and keeps the lock state") func aChangeNeedsTheOldPasscodeAndKeepsTheLock() throws {
        let vault = try bench.startProtected()
        try vault.lock()
        let wrong = refusal { try vault.changePasscode(from: secret("wrong one"), to: secret(Workbench.otherPasscode)) }
        #expect(wrong?.reason == .authenticationFailed && wrong?.attemptsLeft == 4)
        try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode))
        #expect(vault.status.lock == .locked && vault.status.attemptsLeft == 5)
        #expect(refusal { try vault.unlock(secret(Workbench.passcode)) }?.reason == .authenticationFailed)
        try vault.unlock(secret(Workbench.otherPasscode))
        #expect(refusal { _ = try bench.start().authenticate(secret(Workbench.passcode)) }?.reason == .authenticationFailed)
        try bench.start().unlock(secret(Workbench.otherPasscode))
    }

    @Test("A full disk leaves the passcode as it was", arguments: [StateError.full, .failed("the disk is broken")])
    func aFullDiskLeavesThePasscodeAsItWas(_ fault: StateError) throws {
        let vault = bench.start()
        let kept = try SealedRow(firstRow(vault), in: vault)
        bench.store.fail(.keybag, with: fault)
        let expected: Refusal.Reason = if case .full = fault { .storageFull } else { .storageFailed }
        #expect(refusal { try vault.setPasscode(secret(Workbench.passcode)) }?.reason == expected)
        #expect(!vault.status.passcodeIsSet && !bench.start().status.passcodeIsSet)
        #expect(try bench.start().read(kept) == kept.key)

        bench.store.fail(.keybag, with: nil)
        try vault.setPasscode(secret(Workbench.passcode))
        bench.store.fail(.keybag, with: fault)
        let change = refusal { try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode)) }
        #expect(change?.reason == expected)
        for same in [vault, bench.start()] { try same.unlock(secret(Workbench.passcode)) }
    }

    private func firstRow(_ vault: Vault) throws -> RowBinding {
        _ = try vault.lease()
        return try bench.row()
    }

    @Test("Without a passcode, locking and evaluating are refused") func withoutAPasscodeNothingLocksAndPromptsFail() throws {
        let vault = bench.start()
        let steps: [() throws -> Void] = [
            { try vault.lock() }, { try vault.unlock(secret("anything")) }, { _ = try vault.authenticate(secret("anything")) },
            { try vault.checkPasscodeCanBeTried() }, { try vault.canEvaluate(.biometryOrPasscode) },
            { try vault.changePasscode(from: secret("anything"), to: secret("anything else")) },
        ]
        for step in steps { #expect(refusal(step)?.reason == .passcodeNotSet) }
        #expect(vault.status.lock == .unlocked)
        #expect(refusal { try vault.canEvaluate(.biometry) }?.reason == .biometryNotAvailable)
    }

    @Test("Each user has their own passcode and lock") func usersHaveSeparatePasscodesAndLocks() throws {
        let alice = bench.start(1), bob = bench.start(2)
        _ = try alice.setPasscode(secret("alice's own"))
        _ = try bob.setPasscode(secret("bob's own one"))
        _ = try alice.lock()
        #expect(bob.status.lock == .unlocked)
        #expect(refusal { try alice.unlock(secret("bob's own one")) }?.reason == .authenticationFailed)
        #expect(alice.status.attemptsLeft == 4 && bob.status.attemptsLeft == 5)
        try alice.unlock(secret("alice's own"))
    }
}
