import Enclave
import EnclaveWire
import Testing
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// Changes by a prompt with a new secret: they have the same effect as in a terminal, and are made only as the prompt began.
@Suite("New secrets by a prompt") struct NewSecretTests {
    private let bench = Workbench()
    private static let next = "another correct horse"

    private func reason(_ body: () throws -> Void) -> Refusal.Reason? { refusal(body)?.reason }
    private func key(_ vault: Vault, _ passcode: String = Workbench.passcode) throws -> SecretBytes {
        try vault.authenticate(secret(passcode))
    }
    private static func recoveryKey(_ byte: UInt8) -> RecoveryKey {
        RecoveryKey(random: SecretBytes(copying: [UInt8](repeating: byte, count: RecoveryKey.keyBytes)))
    }

    @Test("A passcode is changed with the key of the old one, and the recovery key stays") func passcodeIsChangedWithItsKey() throws {
        let vault = try bench.startProtected()
        let first: RecoveryKey? = Self.recoveryKey(1)
        try vault.setRecoveryKey(first, passcode: secret(Workbench.passcode))
        let row = try SealedRow(bench.row(), in: vault)
        let prepared = try vault.prepare(.changePasscode)
        try vault.changePasscode(withKey: try key(vault), to: secret(Self.next), since: prepared.epoch)
        #expect(reason { _ = try vault.authenticate(secret(Workbench.passcode)) } == .authenticationFailed)
        for now in [vault, bench.start()] {
            try now.unlock(secret(Self.next))
            #expect(now.status.recoveryKeyIsSet && now.status.attemptsLeft == 5)
            #expect(try now.read(row) == row.key)
        }
        try vault.recover(with: Self.recoveryKey(1), to: secret("a third passcode"), newRecoveryKey: nil)
    }

    @Test("A new passcode that is too weak changes nothing") func weakPasscodeChangesNothing() throws {
        let vault = try bench.startProtected()
        let key = try key(vault)
        for weak in ["", "12345", "aaaaaaaa", "password1"] {
            #expect(reason { try vault.checkStrength(secret(weak)) } == .passcodeTooWeak, "\(weak)")
            #expect(reason { try vault.changePasscode(withKey: key, to: secret(weak)) } == .passcodeTooWeak, "\(weak)")
        }
        try vault.unlock(secret(Workbench.passcode))
    }

    @Test("A recovery key that is confirmed replaces the one before") func recoveryKeyReplacesTheOneBefore() throws {
        let vault = try bench.startProtected()
        try vault.makeRecoveryKey(Self.recoveryKey(1), try vault.prepare(.makeRecoveryKey), passcodeKey: key(vault))
        try vault.makeRecoveryKey(Self.recoveryKey(2), try vault.prepare(.makeRecoveryKey), passcodeKey: key(vault))
        let again = bench.start()
        #expect(again.status.recoveryKeyIsSet && again.status.earlierRecoveryKeyWorks)
        try again.confirmRecoveryKey(Self.recoveryKey(2))
        #expect(
            reason { try again.recover(with: Self.recoveryKey(1), to: secret(Self.next), newRecoveryKey: nil) } == .authenticationFailed)
        try again.recover(with: Self.recoveryKey(2), to: secret(Self.next), newRecoveryKey: nil)
        try again.unlock(secret(Self.next))
    }

    @Test("A passcode or recovery key that changed during the prompt is not changed again") func changedMeanwhile() throws {
        let vault = try bench.startProtected()
        let old = try key(vault)
        let passcode = try vault.prepare(.changePasscode)
        let making = try vault.prepare(.makeRecoveryKey)
        let other: RecoveryKey? = Self.recoveryKey(7)
        try vault.setRecoveryKey(other, passcode: secret(Workbench.passcode))
        #expect(reason { try vault.makeRecoveryKey(Self.recoveryKey(1), making, passcodeKey: old) } == .keysChanged)
        // A key that does not come from a passcode, and one of an earlier passcode.
        let forged = SecretBytes(copying: [UInt8](repeating: 0, count: 32))
        #expect(reason { try vault.changePasscode(withKey: forged, to: secret(Self.next), since: passcode.epoch) } == .keysChanged)
        try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode))
        #expect(reason { try vault.changePasscode(withKey: old, to: secret(Self.next), since: passcode.epoch) } == .keysChanged)
        let later = try vault.prepare(.makeRecoveryKey)
        #expect(reason { try vault.makeRecoveryKey(Self.recoveryKey(1), later, passcodeKey: old) } == .keysChanged)
        try vault.unlock(secret(Workbench.otherPasscode))
        try vault.recover(with: Self.recoveryKey(7), to: secret(Self.next), newRecoveryKey: nil)
    }

    /// A user who locks may no longer see the prompt whose passcode is still being compared.
    @Test("A lock during the prompt stops a new passcode and a new recovery key") func lockDuringThePromptStopsBoth() throws {
        let vault = try bench.startProtected()
        let passcode = try vault.prepare(.changePasscode)
        let making = try vault.prepare(.makeRecoveryKey)
        let key = try key(vault)
        try vault.lock()
        try vault.unlock(secret(Workbench.passcode))
        #expect(reason { try vault.changePasscode(withKey: key, to: secret(Self.next), since: passcode.epoch) } == .locked)
        #expect(reason { try vault.makeRecoveryKey(Self.recoveryKey(1), making, passcodeKey: key) } == .locked)
        #expect(!vault.status.recoveryKeyIsSet)
        try vault.unlock(secret(Workbench.passcode))
    }

    @Test("Without a passcode, a prompt for a new passcode or recovery key is refused") func withoutAPasscode() {
        let vault = bench.start()
        for change: CredentialChange in [.changePasscode, .makeRecoveryKey] {
            #expect(reason { _ = try vault.prepare(change) } == .passcodeNotSet)
        }
        #expect(bench.store.files["1000/keybag"] == nil)
    }
}
