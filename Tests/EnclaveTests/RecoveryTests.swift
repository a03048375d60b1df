import Enclave
import EnclaveBook
import EnclaveWire
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// The recovery key: what it opens, when it is void, and that it is not a second passcode.
@Suite struct RecoveryTests {
    private let bench = Workbench()
    private static let otherBytes = [UInt8](100..<116)

    private func key(_ bytes: [UInt8] = EveryUse.recoveryBytes) -> RecoveryKey { RecoveryKey(random: SecretBytes(copying: bytes)) }

    private func recover(_ vault: Vault, with bytes: [UInt8] = EveryUse.recoveryBytes, to passcode: String, new: [UInt8]? = nil) throws {
        let next: RecoveryKey? = if let new { key(new) } else { nil }
        try vault.recover(with: key(bytes), to: secret(passcode), newRecoveryKey: next)
    }

    private func startWithKey() throws -> Vault {
        let vault = bench.start()
        try vault.setPasscode(Workbench.passcode, recovery: EveryUse.recoveryBytes)
        return vault
    }

    @Test("The correct recovery key sets a passcode once, and the status reports it") func recoveryKeySetsAPasscodeOnceAndIsReported()
        throws
    {
        let vault = try startWithKey()
        let rows = try ProtectionClass.allCases.map { try SealedRow(bench.row($0, .userPresence), in: vault) }
        #expect(vault.status.recoveryKeyIsSet && vault.status.recovered == nil)
        let restarted = bench.start()
        bench.clock.setWall(microseconds: 99)
        try recover(restarted, to: Workbench.otherPasscode)
        #expect(restarted.status.lock == .unlocked && restarted.status.cause == .recovered && restarted.status.recovered == 99)
        #expect(!restarted.status.recoveryKeyIsSet && bench.start().status.recovered == 99)
        for row in rows { #expect(try restarted.read(row, passcode: Workbench.otherPasscode) == row.key) }
        #expect(refusal { _ = try bench.start().authenticate(secret(Workbench.passcode)) }?.reason == .authenticationFailed)
        #expect(refusal { try recover(restarted, to: "third passcode") }?.reason == .recoveryKeyNotSet)
        // The user's next change of the passcode ends the warning.
        try restarted.changePasscode(from: secret(Workbench.otherPasscode), to: secret(Workbench.passcode))
        #expect(restarted.status.recovered == nil)
    }

    @Test("A new recovery key replaces the used one") func newKeyReplacesTheUsedOne() throws {
        let vault = try startWithKey()
        try recover(vault, to: Workbench.otherPasscode, new: Self.otherBytes)
        #expect(vault.status.recoveryKeyIsSet)
        #expect(refusal { try recover(vault, to: "third passcode") }?.reason == .authenticationFailed)
        try recover(bench.start(), with: Self.otherBytes, to: "third passcode")
        try bench.start().unlock(secret("third passcode"))
    }

    /// 128 random bits cannot be guessed, so nothing is counted, and no delay keeps out the user it protects.
    @Test("A recovery is not counted and works during a delay") func recoveryKeyIsNotCountedAndWorksDuringADelay() throws {
        let vault = try startWithKey()
        bench.journal.clear()
        for _ in 1...7 {
            #expect(refusal { try recover(vault, with: Self.otherBytes, to: Workbench.otherPasscode) }?.reason == .authenticationFailed)
        }
        #expect(bench.journal.events.isEmpty && vault.status.attemptsLeft == 5)
        for _ in 1...5 { _ = refusal { _ = try vault.authenticate(secret("wrong one")) } }
        #expect(vault.status.secondsToWait == 60)
        try recover(vault, to: Workbench.otherPasscode)
        #expect(vault.status.secondsToWait == 0 && vault.status.attemptsLeft == 5)
        try bench.start().unlock(secret(Workbench.otherPasscode))
    }

    @Test("A recovery key survives passcode changes and rolling") func recoveryKeySurvivesPasscodeChangesAndRolling() throws {
        let vault = try startWithKey()
        try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode))
        try vault.changePasscode(from: secret(Workbench.otherPasscode), to: secret("third passcode"), rolls: true)
        let row = try SealedRow(bench.row(), in: vault)
        let restarted = bench.start()
        try recover(restarted, to: Workbench.passcode)
        #expect(try restarted.read(row) == row.key)
    }

    @Test("A recovery key opens nothing on another device") func recoveryKeyOpensNothingOnAnotherDevice() throws {
        _ = try startWithKey()
        let other = Workbench(files: bench.store.files, device: 2).start()
        #expect(refusal { try recover(other, to: Workbench.otherPasscode) }?.reason == .stateUnreadable)
        // The record alone does not suffice either, since the device wraps it.
        let record = try #require(try bench.keybag().recovery)
        let wrong = bytes(try MemoryDevice(2).deviceKey(label: "vauban keybag device wrap v1", context: bench.keybag().identifier))
        let context = try bench.keybag().identifier + ByTheBook.bigEndian(Workbench.user)
        #expect(throws: (any Error).self) { try ByTheBook.open(record.wrapped, key: wrong, label: "vauban recovery v1", context: context) }
    }

    @Test("The passcode can replace or remove the recovery key") func passcodeReplacesOrRemovesTheRecoveryKey() throws {
        let vault = try bench.startProtected()
        #expect(refusal { try recover(vault, to: Workbench.otherPasscode) }?.reason == .recoveryKeyNotSet)
        let first: RecoveryKey? = key(), second: RecoveryKey? = key(Self.otherBytes), wrong: RecoveryKey? = key()
        #expect(refusal { try vault.setRecoveryKey(wrong, passcode: secret("wrong one")) }?.attemptsLeft == 4)
        #expect(!vault.status.recoveryKeyIsSet)
        try vault.setRecoveryKey(first, passcode: secret(Workbench.passcode))
        try vault.setRecoveryKey(second, passcode: secret(Workbench.passcode))
        try vault.confirmRecoveryKey(key(Self.otherBytes))
        #expect(refusal { try recover(vault, to: Workbench.otherPasscode) }?.reason == .authenticationFailed)
        try vault.setRecoveryKey(nil, passcode: secret(Workbench.passcode))
        #expect(!vault.status.recoveryKeyIsSet)
        #expect(refusal { try recover(vault, with: Self.otherBytes, to: Workbench.otherPasscode) }?.reason == .recoveryKeyNotSet)
    }

    @Test("An earlier recovery key works until the newest one is confirmed") func earlierKeyWorksUntilTheNewestIsConfirmed() throws {
        for usesEarlier in [true, false] {
            let bench = Workbench()
            let vault = bench.start()
            try vault.setPasscode(Workbench.passcode, recovery: EveryUse.recoveryBytes)
            try replace(in: vault, by: Self.otherBytes)
            #expect(vault.status.earlierRecoveryKeyWorks && bench.start().status.earlierRecoveryKeyWorks)
            // Changes of the passcode leave both.
            try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode))
            try vault.changePasscode(from: secret(Workbench.otherPasscode), to: secret(Workbench.passcode), rolls: true)
            let row = try SealedRow(bench.row(), in: vault)
            // Whichever is used, none works afterwards.
            let used = usesEarlier ? EveryUse.recoveryBytes : Self.otherBytes
            let again = bench.start()
            try recover(again, with: used, to: Workbench.otherPasscode)
            #expect(try again.read(row) == row.key)
            #expect(!again.status.recoveryKeyIsSet && !again.status.earlierRecoveryKeyWorks)
            for bytes in [EveryUse.recoveryBytes, Self.otherBytes] {
                #expect(refusal { try recover(again, with: bytes, to: "third passcode") }?.reason == .recoveryKeyNotSet)
            }
        }
    }

    @Test("Only the newest recovery key can be confirmed, and until then the last confirmed one works beside it")
    func onlyTheNewestKeyCanBeConfirmed() throws {
        let vault = try startWithKey()
        #expect(refusal { try bench.start().confirmRecoveryKey(key([UInt8](50..<66))) }?.reason == .authenticationFailed)
        // Nobody saw the second key: the first one works until the third is confirmed.
        try replace(in: vault, by: Self.otherBytes)
        let third = [UInt8](200..<216)
        try replace(in: vault, by: third)
        for bytes in [EveryUse.recoveryBytes, Self.otherBytes, [UInt8](50..<66)] {
            #expect(refusal { try vault.confirmRecoveryKey(key(bytes)) }?.reason == .authenticationFailed)
        }
        #expect(vault.status.earlierRecoveryKeyWorks && vault.status.attemptsLeft == 5)
        #expect(refusal { try recover(vault, with: Self.otherBytes, to: Workbench.otherPasscode) }?.reason == .authenticationFailed)
        try vault.confirmRecoveryKey(key(third))
        try vault.confirmRecoveryKey(key(third))
        #expect(!vault.status.earlierRecoveryKeyWorks && vault.status.recoveryKeyIsSet)
        #expect(refusal { try recover(vault, to: Workbench.otherPasscode) }?.reason == .authenticationFailed)
        try recover(vault, with: third, to: Workbench.otherPasscode)
        #expect(refusal { try vault.confirmRecoveryKey(key(third)) }?.reason == .recoveryKeyNotSet)
    }

    @Test("Removing the passcode or the recovery key ends the earlier one too") func removalEndsTheEarlierKeyToo() throws {
        let vault = try startWithKey()
        try replace(in: vault, by: Self.otherBytes)
        try vault.setRecoveryKey(nil, passcode: secret(Workbench.passcode))
        #expect(try !vault.status.earlierRecoveryKeyWorks && bench.keybag().earlierRecovery == nil)
        #expect(refusal { try recover(vault, to: Workbench.otherPasscode) }?.reason == .recoveryKeyNotSet)
        let first: RecoveryKey? = key()
        try vault.setRecoveryKey(first, passcode: secret(Workbench.passcode))
        try replace(in: vault, by: Self.otherBytes)
        try vault.removePasscode(secret(Workbench.passcode))
        #expect(try bench.keybag().earlierRecovery == nil && bench.keybag().recovery == nil)
    }

    private func replace(in vault: Vault, by bytes: [UInt8]) throws {
        let next: RecoveryKey? = key(bytes)
        try vault.setRecoveryKey(next, passcode: secret(Workbench.passcode))
    }

    @Test("A weak new passcode does not consume the recovery key") func weakPasscodeDoesNotConsumeTheKey() throws {
        let vault = try startWithKey()
        #expect(refusal { try recover(vault, to: "123456") }?.reason == .passcodeTooWeak)
        bench.store.fail(.keybag, with: .full)
        #expect(refusal { try recover(vault, to: Workbench.otherPasscode) }?.reason == .storageFull)
        bench.store.fail(.keybag, with: nil)
        try recover(vault, to: Workbench.otherPasscode)
    }
}
