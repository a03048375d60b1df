import Enclave
import EnclaveBook
import EnclaveWire
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanLinuxHost
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// Whole files and rows that another implementation of the specification made, in this version's formats and in earlier ones.
@Suite struct StateVectorTests {
    private let answers: KnownAnswers

    init() throws { answers = try KnownAnswers.load() }

    @Test("Stored formats encode to the bytes they were decoded from") func formatsReadAndWriteTheSameBytes() throws {
        let bag = try Keybag(derBytes: octets(answers.keybag.version2))
        #expect(try hexadecimal(bag.encoded()) == answers.keybag.version2)
        #expect(bag.settings == LockSettings(graceSeconds: 60, idleSeconds: 900, locksWithScreen: true))
        #expect(bag.destroyed.count == 1 && bag.enrollment?.fingers == octets(answers.fingers) && bag.recovered == 800_000_000_000_000)
        let newest = try Keybag(derBytes: octets(answers.keybag.version5))
        #expect(try hexadecimal(newest.encoded()) == answers.keybag.version5)
        #expect(newest.recovery == bag.recovery && newest.earlierRecovery != nil && newest.slots == bag.slots)
        let recovery = try #require(bag.recovery), slot = try #require(bag.slots.first)
        #expect(try hexadecimal(recovery.encoded()) == answers.recovery.record)
        #expect(try hexadecimal(slot.encoded()) == answers.slot.slot)
        let record = try AttemptRecord(derBytes: octets(answers.attempts.version2))
        #expect(try hexadecimal(record.encoded()) == answers.attempts.version2)
        #expect(record.failures == 3 && record.guesses.map(\.who) == ["/usr/bin/cat", "an unknown program"])
        for row in answers.rows {
            let binding = try RowBinding(derBytes: octets(row.binding))
            #expect(try hexadecimal(binding.encoded()) == row.binding && hexadecimal(binding.itemBinding.encoded()) == row.itemBinding)
        }
    }

    @Test("State envelopes match the vectors in both directions") func envelopesAreTheSameBothWays() throws {
        let device = MemoryDevice(secret: octets(answers.deviceSecret))
        #expect(hexadecimal(device.deviceIdentifier) == answers.device)
        let files: [(envelope: String, content: String, name: StateName)] = [
            (answers.envelope.keybag2, answers.keybag.version2, .keybag),
            (answers.envelope.keybag5, answers.keybag.version5, .keybag),
            (answers.envelope.attempts2, answers.attempts.version2, .attempts),
        ]
        for file in files {
            let made = try StateEnvelope(content: octets(file.content), name: file.name, user: answers.user, backend: device)
            #expect(try hexadecimal(made.encoded()) == file.envelope)
            #expect(
                try hexadecimal(StateEnvelope.open(octets(file.envelope), name: file.name, user: answers.user, backend: device))
                    == file.content
            )
        }
    }

    @Test("A keybag slot of the vectors opens") func aSlotOpensAsWritten() throws {
        let bag = try Keybag(derBytes: octets(answers.keybag.version2))
        let passcodeKey = SecretBytes(copying: octets(answers.slot.passcodeKey))
        let slot = try #require(bag.slots.first { $0.purpose.number == answers.slot.purpose })
        let device = MemoryDevice(secret: octets(answers.deviceSecret))
        let key = try ByTheBook.slotKey(slot, of: bag, device: device, passcodeKey: passcodeKey)
        #expect(hexadecimal(bytes(key)) == answers.slot.key)
    }

    /// Every row of the vectors, on a device of this version that another implementation made.
    @Test("Rows of every kind and format open") func rowsOfEveryKindAndFormatOpen() throws {
        let bench = answers.bench(keybag: answers.envelope.keybag2, attempts: answers.envelope.attempts2)
        let (vault, _) = bench.startAtReader()
        #expect(vault.status.warnings.isEmpty && vault.status.attemptsLeft == 2 && vault.status.failedAttempts.count == 2)
        try vault.unlock(secret(answers.passcode))
        #expect(Set(answers.rows.map(\.kind)) == [0, 1, 2])
        for row in answers.rows {
            let sealed = try row.sealed()
            if sealed.row.accessControl?.flags.contains(.biometryCurrentSet) == true {
                #expect(try vault.read(sealed, fingers: octets(answers.fingers), passcode: answers.passcode) == sealed.key, "\(row.name)")
                continue
            }
            #expect(try vault.read(sealed, passcode: answers.passcode, password: row.password) == sealed.key, "\(row.name)")
        }
    }

    // MARK: Version 1

    /// A version-1 device loads, works, and is written as version 2 at its next change; its rows of kind 0 and 1 open.
    @Test("A keybag of version 1 continues to work") func keybagOfVersionOneContinuesToWork() throws {
        let bench = answers.bench(keybag: answers.envelope.keybag1, attempts: answers.envelope.attempts1)
        let vault = bench.start()
        let status = vault.status
        #expect(status.warnings.isEmpty && status.lock == .beforeFirstUnlock && status.attemptsLeft == 2 && status.failedAttempts.isEmpty)
        #expect(status.settings == .standard && !status.recoveryKeyIsSet)
        #expect(refusal { try vault.unlock(secret("wrong one")) }?.attemptsLeft == 1)
        #expect(try bench.attempts().failures == 4)
        try vault.unlock(secret(answers.passcode))
        let first = answers.rows.filter { $0.kind != 2 }
        for row in first {
            let sealed = try row.sealed()
            #expect(try vault.read(sealed, passcode: answers.passcode) == sealed.key, "\(row.name)")
        }
        // It now has the pair that it lacked, and the other slots are unchanged.
        let before = try Keybag(derBytes: octets(answers.keybag.version1)), after = try bench.keybag()
        #expect(Array(after.slots.prefix(before.slots.count)) == before.slots && after.slots.count == before.slots.count + 1)
        #expect(after.current(.biometryFactor)?.wrapping == .passcodeAndDevice)
        #expect(try after.encoded().prefix(12).contains(2) && bench.attempts().encoded().dropFirst(2).prefix(3) == [2, 1, 2])
        _ = try SealedRow(bench.row(.whenUnlocked, .biometryAny), in: vault)
        for row in first {
            let sealed = try row.sealed()
            #expect(try bench.restarted(unlocked: answers.passcode).read(sealed, passcode: answers.passcode) == sealed.key)
        }
    }

    @Test("A keybag of version 1 without a passcode continues to work") func keybagOfVersionOneWithoutAPasscodeContinuesToWork() throws {
        let bench = answers.bench(keybag: answers.envelope.keybag1WithoutPasscode)
        let vault = bench.start()
        #expect(vault.status.lock == .unlocked && vault.status.warnings.isEmpty)
        let row = try #require(answers.rows.first { $0.name == "plain, format 1" }).sealed()
        let presence = try #require(answers.rows.first { $0.name == "userPresence, format 1" }).sealed()
        #expect(try vault.read(row) == row.key)
        try vault.setPasscode(secret(Workbench.passcode))
        for same in [vault, try bench.restarted(unlocked: Workbench.passcode)] {
            #expect(try same.read(row) == row.key)
            #expect(try same.read(presence, passcode: Workbench.passcode) == presence.key)
        }
        #expect(try bench.keybag().current(.biometryFactor) != nil)
    }

    /// A row of the first format is bound to its generation throughout: it is resealed, not rewrapped.
    @Test("A row of format 1 cannot be rewrapped") func aRowOfTheFirstFormatIsNotRewrapped() throws {
        let bench = answers.bench(keybag: answers.envelope.keybag2, attempts: answers.envelope.attempts2)
        let vault = try bench.restarted(unlocked: answers.passcode)
        let old = try #require(answers.rows.first { $0.name.contains("older generation") }).sealed()
        let current = try #require(bench.keybag().current(.protection(.whenUnlocked))).generation
        #expect(refusal { _ = try vault.rewrap(old.row, wrapped: old.wrapped, to: current) }?.reason == .badParameter)
    }

    // MARK: Recovery and the reader

    @Test("The recovery key of the vectors recovers the keychain") func theRecoveryKeyOfTheVectorsRecovers() throws {
        let typed = try RecoveryKey(typed: secret(answers.recovery.digits))
        #expect(hexadecimal(bytes(typed.bytes())) == answers.recovery.random)
        #expect(
            hexadecimal(bytes(RecoveryKey(random: SecretBytes(copying: octets(answers.recovery.random))).digits))
                == hexadecimal(Array(answers.recovery.digits.utf8)))
        let bench = answers.bench(keybag: answers.envelope.keybag2, attempts: answers.envelope.attempts2)
        try bench.start().recover(with: typed, to: secret(Workbench.otherPasscode), newRecoveryKey: nil)
        let row = try #require(answers.rows.first { $0.name == "plain" }).sealed()
        #expect(try bench.restarted(unlocked: Workbench.otherPasscode).read(row) == row.key)
    }

    @Test("The earlier recovery key of the vectors works until the newest one is confirmed") func earlierKeyOfTheVectors() throws {
        let typed = try RecoveryKey(typed: secret(answers.recovery.earlierDigits))
        let bench = answers.bench(keybag: answers.envelope.keybag5, attempts: answers.envelope.attempts2)
        #expect(bench.start().status.earlierRecoveryKeyWorks)
        try bench.start().recover(with: typed, to: secret(Workbench.otherPasscode), newRecoveryKey: nil)
        let confirmed = answers.bench(keybag: answers.envelope.keybag5, attempts: answers.envelope.attempts2)
        try confirmed.start().confirmRecoveryKey(try RecoveryKey(typed: secret(answers.recovery.digits)))
        #expect(try confirmed.keybag() == Keybag(derBytes: octets(answers.keybag.version2)))
        #expect(
            refusal { try confirmed.start().recover(with: typed, to: secret(Workbench.otherPasscode), newRecoveryKey: nil) }?.reason
                == .authenticationFailed)
    }

    @Test("The reader verdict of the vectors is accepted") func verdictOfTheVectorsIsAccepted() throws {
        let bench = answers.bench(pairing: answers.envelope.pairing)
        let verdict = ReaderVerdict(
            outcome: try #require(ReaderVerdict.Outcome(rawValue: answers.verdict.outcome)), user: answers.verdict.user,
            nonce: octets(answers.verdict.nonce), fingers: octets(answers.verdict.fingers), code: octets(answers.verdict.code))
        #expect(hexadecimal(verdict.covered) == answers.verdict.covered)
        let pairing = Pairing(host: bench.host)
        #expect(!pairing.authenticates(verdict))
        guard case .known = try pairing.handleHello(isPaired: true) else { Issue.record("the pairing was not read"); return }
        #expect(pairing.authenticates(verdict))
    }
}
