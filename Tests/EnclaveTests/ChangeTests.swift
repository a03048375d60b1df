import Enclave
import EnclaveWire
import Testing
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// Changes by a prompt: which ones are possible, and that each is made only as the prompt showed it.
@Suite("Changes by a prompt") struct ChangeTests {
    private let bench = Workbench()
    private static let strict = LockSettings(graceSeconds: 5, idleSeconds: 60, locksWithScreen: true)
    private static let later = LockSettings(graceSeconds: 0, idleSeconds: 900, locksWithScreen: false)

    private func reason(_ body: () throws -> Void) -> Refusal.Reason? { refusal(body)?.reason }
    private func key(_ vault: Vault, _ passcode: String = Workbench.passcode) throws -> SecretBytes {
        try vault.authenticate(secret(passcode))
    }

    @Test("A change of settings is refused if they are no longer those that the prompt showed")
    func changeOfSettingsNeedsThoseThatWereShown() throws {
        let vault = try bench.startProtected()
        _ = try vault.prepare(.configure(before: .standard, after: Self.strict))
        let key = try key(vault)
        // The settings were changed in the meantime.
        try vault.configure(Self.later, passcode: secret(Workbench.passcode))
        #expect(reason { try vault.configure(Self.strict, replacing: .standard, passcodeKey: key) } == .keysChanged)
        #expect(reason { _ = try vault.prepare(.configure(before: .standard, after: Self.strict)) } == .keysChanged)
        #expect(vault.status.settings == Self.later)
        _ = try vault.prepare(.configure(before: Self.later, after: Self.strict))
        try vault.configure(Self.strict, replacing: Self.later, passcodeKey: key)
        #expect(vault.status.settings == Self.strict && bench.start().status.settings == Self.strict)
    }

    @Test("Changes that are empty, impossible or for prompts on terminals are refused without a prompt")
    func impossibleChangesAreRefusedWithoutAPrompt() throws {
        let vault = try bench.startProtected()
        var terminal = LockSettings.standard
        terminal.allowsTerminalPrompts = true
        #expect(reason { _ = try vault.prepare(.configure(before: .standard, after: terminal)) } == .badParameter)
        #expect(reason { _ = try vault.prepare(.configure(before: .standard, after: .standard)) } == .badParameter)
        #expect(reason { _ = try vault.prepare(.endRecoveryKey) } == .recoveryKeyNotSet)
        #expect(reason { _ = try vault.prepare(.enroll(unlocks: true)) } == .biometryNotAvailable)
        #expect(reason { _ = try vault.prepare(.forgetFingers) } == .biometryNotEnrolled)
        let fresh = Workbench()
        let open = fresh.start()
        for change: CredentialChange in [.configure(before: .standard, after: Self.strict), .forgetFingers, .endRecoveryKey] {
            #expect(reason { _ = try open.prepare(change) } == .passcodeNotSet)
        }
        // A refused request creates nothing.
        #expect(fresh.store.files["1000/keybag"] == nil)
    }

    @Test("Fingers cannot be deleted without their reader") func fingersAreNotDeletedWithoutTheirReader() throws {
        let (vault, reader) = try bench.startEnrolled()
        _ = try vault.prepare(.forgetFingers)
        reader.isPresent = false
        #expect(reason { _ = try vault.prepare(.forgetFingers) } == .biometryNotAvailable)
    }

    /// A user who locks may no longer see the prompt whose passcode is still being compared.
    @Test("A lock during the prompt stops every change") func lockDuringThePromptStopsEveryChange() throws {
        let (vault, _) = try bench.startEnrolled(unlocks: false)
        let first: RecoveryKey? = EveryUse.recoveryKey
        try vault.setRecoveryKey(first, passcode: secret(Workbench.passcode))
        let prepared = try vault.prepare(.endRecoveryKey)
        let since = prepared.epoch
        let key = try key(vault)
        // A passcode does not end the epoch.
        try vault.checkUnchanged(since: since)
        try vault.lock()
        try vault.unlock(secret(Workbench.passcode))
        let before = vault.status
        #expect(reason { try vault.checkUnchanged(since: since) } == .locked)
        #expect(reason { try vault.configure(Self.strict, replacing: .standard, passcodeKey: key, since: since) } == .locked)
        #expect(reason { try vault.enroll(fingers: Sample.otherFingers, unlocks: true, passcodeKey: key, since: since) } == .locked)
        #expect(reason { try vault.endEnrollment(passcodeKey: key, since: since) } == .locked)
        #expect(reason { try vault.endRecoveryKey(prepared, passcodeKey: key) } == .locked)
        #expect(vault.status == before && before.recoveryKeyIsSet && before.biometry.isEnrolled)
        // The same for a prompt that began after the lock.
        try vault.endRecoveryKey(try vault.prepare(.endRecoveryKey), passcodeKey: key)
        #expect(!vault.status.recoveryKeyIsSet)
    }

    @Test("A key of an earlier passcode changes nothing") func keyOfAnEarlierPasscodeChangesNothing() throws {
        let (vault, _) = try bench.startEnrolled()
        let first: RecoveryKey? = EveryUse.recoveryKey
        try vault.setRecoveryKey(first, passcode: secret(Workbench.passcode))
        let old = try key(vault)
        let prepared = try vault.prepare(.endRecoveryKey)
        try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode))
        let before = vault.status
        #expect(reason { try vault.configure(Self.strict, replacing: .standard, passcodeKey: old) } == .keysChanged)
        #expect(reason { try vault.endRecoveryKey(prepared, passcodeKey: old) } == .keysChanged)
        #expect(reason { try vault.endEnrollment(passcodeKey: old) } == .keysChanged)
        #expect(vault.status == before && before.recoveryKeyIsSet && before.biometry.isEnrolled)
    }

    @Test("A recovery key that is made during a prompt to remove the earlier one stays") func recoveryKeyMadeDuringThePromptStays() throws {
        let vault = try bench.startProtected()
        let first: RecoveryKey? = EveryUse.recoveryKey
        try vault.setRecoveryKey(first, passcode: secret(Workbench.passcode))
        let prepared = try vault.prepare(.endRecoveryKey)
        let key = try key(vault)
        let other: RecoveryKey? = RecoveryKey(random: SecretBytes(copying: [UInt8](repeating: 7, count: 16)))
        try vault.setRecoveryKey(other, passcode: secret(Workbench.passcode))
        #expect(reason { try vault.endRecoveryKey(prepared, passcodeKey: key) } == .keysChanged)
        #expect(vault.status.recoveryKeyIsSet)
        try vault.endRecoveryKey(try vault.prepare(.endRecoveryKey), passcodeKey: key)
        #expect(!vault.status.recoveryKeyIsSet)
        #expect(reason { try vault.recover(with: EveryUse.recoveryKey, to: secret("another"), newRecoveryKey: nil) } != nil)
    }
}
