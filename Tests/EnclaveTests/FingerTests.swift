import Enclave
import EnclaveWire
import Testing
import VaubanAccessPolicy
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// Fingerprints: what enables them, what ends them, and how one unlocks.
@Suite struct FingerTests {
    private let bench = Workbench()
    private static let twoDays: UInt64 = 48 * 3600

    private func miss(_ vault: Vault, _ times: Int) { for _ in 0..<times { vault.recordFingerMiss() } }

    @Test("A matching fingerprint opens an item once the passcode was entered") func matchOpensAnItemAfterThePasscode() throws {
        let (vault, _) = try bench.startEnrolled()
        let row = try SealedRow(bench.row(.always, .biometryAny), in: vault)
        #expect(try vault.read(row, fingers: Sample.fingers) == row.key)
        #expect(
            vault.status.biometry
                == DeviceStatus.Biometry(readerIsPresent: true, isEnrolled: true, isReady: true, unlocks: true, missesLeft: 5))
        // Invariant 11: a restarted enclave requires the passcode first; the passcode of any operation arms fingerprints.
        let (restarted, reader) = bench.startAtReader()
        #expect(refusal { _ = try restarted.read(row, fingers: Sample.fingers) }?.reason == .biometryLockedOut)
        #expect(refusal { try restarted.canEvaluate(.biometry) }?.reason == .biometryLockedOut)
        _ = try restarted.authenticate(secret(Workbench.passcode))
        #expect(restarted.status.lock == .beforeFirstUnlock)
        #expect(try restarted.read(row, fingers: Sample.fingers) == row.key)
        reader.isPresent = false
        #expect(refusal { _ = try restarted.read(row, fingers: Sample.fingers) }?.reason == .biometryNotAvailable)
    }

    @Test("Five misses disable fingerprints until a passcode") func fiveMissesDisableFingerprints() throws {
        let (vault, _) = try bench.startEnrolled()
        let row = try SealedRow(bench.row(.always, .biometryAny), in: vault)
        for left in [4, 3, 2, 1] as [Int64] {
            vault.recordFingerMiss()
            #expect(vault.status.biometry.missesLeft == left && vault.fingerRefusal == nil)
        }
        // Neither a match nor a wrong passcode resets the misses.
        _ = try vault.read(row, fingers: Sample.fingers)
        _ = refusal { _ = try vault.authenticate(secret("wrong one")) }
        vault.recordFingerMiss()
        #expect(vault.fingerRefusal == .biometryLockedOut && vault.status.biometry.missesLeft == 0)
        #expect(refusal { _ = try vault.acceptFingerMatch(fingers: Sample.fingers) }?.reason == .biometryLockedOut)
        _ = try vault.authenticate(secret(Workbench.passcode))
        #expect(vault.fingerRefusal == nil && vault.status.biometry.missesLeft == 5)
    }

    @Test("Fingerprints are disabled after 48 hours without a passcode") func fingerprintsAreDisabledAfter48Hours() throws {
        let (vault, _) = try bench.startEnrolled()
        bench.clock.advance(seconds: Self.twoDays)
        #expect(vault.fingerRefusal == nil && vault.applyExpirations() == bench.clock.boot + 1)
        bench.clock.advance(seconds: 1)
        #expect(vault.fingerRefusal == .biometryLockedOut && vault.applyExpirations() == nil)
        _ = try vault.authenticate(secret(Workbench.passcode))
        #expect(vault.fingerRefusal == nil)
    }

    /// A match counts for 300 seconds, and only under the enrollment that it matched.
    @Test("A match is no evidence after its time") func matchExpiresAsEvidence() throws {
        let (vault, _) = try bench.startEnrolled()
        let opening = try vault.opening(SealedRow(bench.row(.always, .biometryAny), in: vault))
        let shown = OperationEvidence()
        shown.evidence.finger = try vault.acceptFingerMatch(fingers: Sample.fingers)
        bench.clock.advance(seconds: 300)
        _ = try vault.finish(opening, shown, password: nil)
        bench.clock.advance(seconds: 1)
        #expect(refusal { _ = try vault.finish(opening, shown, password: nil) }?.reason == .authenticationFailed)
        shown.evidence.finger = try vault.acceptFingerMatch(fingers: Sample.fingers)
        try vault.enroll(fingers: Sample.fingers, unlocks: true, passcodeKey: vault.authenticate(secret(Workbench.passcode)))
        #expect(refusal { _ = try vault.finish(opening, shown, password: nil) }?.reason == .authenticationFailed)
    }

    @Test("A changed list of fingers ends the enrollment on disk", arguments: ["a match", "a word", "another enrollment"])
    func aChangedListEndsTheEnrollmentOnDisk(_ by: String) throws {
        let (vault, _) = try bench.startEnrolled()
        let current = try SealedRow(bench.row(.always, .biometryCurrentSet), in: vault)
        let generation = try #require(try bench.keybag().enrollment).generation
        switch by {
        case "a match": #expect(refusal { _ = try vault.acceptFingerMatch(fingers: Sample.otherFingers) }?.reason == .biometryNotEnrolled)
        case "a word": try vault.verifyEnrolledFingers(Sample.otherFingers)
        default: try vault.enroll(fingers: Sample.otherFingers, unlocks: true, passcodeKey: vault.authenticate(secret(Workbench.passcode)))
        }
        #expect((vault.status.warnings.count == 1) == (by != "another enrollment"))
        let bag = try bench.keybag()
        #expect(bag.destroyed.map(\.generation) == [generation] && !bag.slots.contains { $0.generation == generation })
        // The old list restores nothing.
        for same in [vault, try bench.restarted(unlocked: Workbench.passcode)] {
            #expect(refusal { _ = try same.asks(for: current) }?.reason == .biometryNotEnrolled)
        }
        try vault.verifyEnrolledFingers(Sample.otherFingers)
    }

    /// If the end of the enrollment cannot be written, no fingerprint counts in this enclave, and the caller gets the error.
    @Test("An enrollment whose end cannot be written no longer counts") func enrollmentWhoseEndCannotBeWrittenDoesNotCount() throws {
        let (vault, _) = try bench.startEnrolled()
        bench.store.fail(.keybag, with: .full)
        #expect(refusal { try vault.verifyEnrolledFingers(Sample.otherFingers) }?.reason == .storageFull)
        #expect(vault.fingerRefusal == .biometryLockedOut)
    }

    @Test("Enrolling needs the passcode key and a finger") func enrollmentNeedsThePasscodeKeyAndAFinger() throws {
        let (vault, _) = bench.startAtReader()
        try vault.setPasscode(secret(Workbench.passcode))
        #expect(vault.fingerRefusal == .biometryNotEnrolled)
        #expect(refusal { try vault.enroll(fingers: Sample.fingers, unlocks: true, passcodeKey: secret("no key")) }?.reason == .keysChanged)
        let key = try vault.authenticate(secret(Workbench.passcode))
        #expect(
            refusal { try vault.enroll(fingers: [UInt8](repeating: 0, count: 32), unlocks: true, passcodeKey: key) }?.reason
                == .biometryNotEnrolled)
        #expect(try bench.keybag().enrollment == nil)
        try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode))
        #expect(refusal { try vault.enroll(fingers: Sample.fingers, unlocks: true, passcodeKey: key) }?.reason == .keysChanged)
    }
}
