import Enclave
import EnclaveWire
import Testing
import VaubanAccessPolicy
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// Unlocking by fingerprint: class-A keys that enclaved keeps wrapped under a key that only the reader holds.
@Suite struct FingerUnlockTests {
    private let bench = Workbench()

    private func unlock(_ vault: Vault, _ held: borrowing SecretBytes) throws {
        try vault.unlock(by: vault.acceptFingerMatch(fingers: Sample.fingers), held)
    }

    @Test("The key held by the reader unlocks") func keyHeldByTheReaderUnlocks() throws {
        let (vault, _) = try bench.startEnrolled()
        let row = try SealedRow(bench.row(), in: vault)
        #expect(vault.takeHandOver() == nil && !vault.canUnlockByFinger)
        try vault.lock()
        let held = try #require(vault.takeHandOver())
        #expect(vault.takeHandOver() == nil && held.secret.count == 32 && vault.canUnlockByFinger)
        #expect(refusal { _ = try vault.read(row) }?.reason == .locked)
        #expect(refusal { try unlock(vault, SecretBytes(copying: [UInt8](repeating: 7, count: 32))) }?.reason == .biometryLockedOut)
        #expect(vault.status.lock == .locked)
        try unlock(vault, held.secret)
        #expect(vault.status.lock == .unlocked && vault.status.cause == .fingerMatched && !vault.canUnlockByFinger)
        #expect(try vault.read(row) == row.key)
        // A key that the reader held earlier is void at the next lock.
        try vault.lock()
        #expect(refusal { try unlock(vault, held.secret) }?.reason == .biometryLockedOut)
    }

    /// Older generations of class A return too, and first-unlock keys never left memory.
    @Test("Unlocking with a fingerprint restores every generation") func everyGenerationIsRestored() throws {
        let (vault, _) = try bench.startEnrolled()
        let old = try SealedRow(bench.row(), in: vault)
        try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.passcode), rolls: true)
        let new = try SealedRow(bench.row(.whenPasscodeSetThisDeviceOnly), in: vault)
        let before = try vault.lease().lease.keys
        try vault.lock()
        try unlock(vault, try #require(vault.takeHandOver()).secret)
        for row in [old, new] { #expect(try vault.read(row) == row.key) }
        #expect(try vault.lease().lease.keys == before)
    }

    enum End: CaseIterable { case readerGone, misses, age, passcode, rolled, removed, changedList, newEnrollment, erased, noted }

    /// Each of these voids the key that the reader holds.
    @Test("Each of these events voids the key held by the reader", arguments: End.allCases) func heldKeyBecomesVoid(_ end: End) throws {
        let (vault, reader) = try bench.startEnrolled()
        try vault.lock()
        let held = try #require(vault.takeHandOver())
        let passcode = secret(Workbench.passcode)
        switch end {
        case .readerGone: vault.handleReaderDisconnect()
        case .misses: for _ in 1...5 { vault.recordFingerMiss() }
        case .age: bench.clock.advance(seconds: 48 * 3600 + 1)
        case .passcode: try vault.unlock(passcode); try vault.lock()
        case .rolled: try vault.changePasscode(from: passcode, to: secret(Workbench.otherPasscode), rolls: true)
        case .removed: try vault.removePasscode(passcode)
        case .changedList: try vault.verifyEnrolledFingers(Sample.otherFingers)
        case .newEnrollment: try vault.enroll(fingers: Sample.fingers, unlocks: false, passcodeKey: vault.authenticate(passcode))
        case .erased: try vault.eraseWith(Workbench.passcode)
        case .noted: reader.isPresent = false
        }
        #expect(refusal { try unlock(vault, held.secret) } != nil)
        if end != .removed, end != .erased { #expect(vault.status.lock == .locked) }
    }

    /// A new passcode alone changes no class key, so the fingerprint still unlocks.
    @Test("Changing the passcode keeps the key held by the reader") func changedPasscodeKeepsTheHeldKey() throws {
        let (vault, _) = try bench.startEnrolled()
        try vault.lock()
        let held = try #require(vault.takeHandOver())
        try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode))
        try unlock(vault, held.secret)
    }

    enum Obstacle: CaseIterable { case notChosen, notThere, missedOut, notArmed, neverEnrolled }

    @Test("A lock hands no key to the reader if no fingerprint may unlock", arguments: Obstacle.allCases)
    func lockHandsOverNoKeyIfNoFingerprintMayUnlock(_ obstacle: Obstacle) throws {
        var (vault, reader) = try bench.startEnrolled(unlocks: obstacle != .notChosen)
        switch obstacle {
        case .notChosen: break
        case .notThere: reader.isPresent = false
        case .missedOut: for _ in 1...5 { vault.recordFingerMiss() }
        case .notArmed: bench.clock.advance(seconds: 48 * 3600 + 1)
        case .neverEnrolled: try vault.endEnrollment(passcodeKey: try vault.authenticate(secret(Workbench.passcode)))
        }
        try vault.lock()
        reader.isPresent = true
        #expect(vault.takeHandOver() == nil && !vault.canUnlockByFinger)
        (vault, reader) = bench.startAtReader()
        #expect(!vault.canUnlockByFinger)
    }

    /// A key that no row needs does not return with the others.
    @Test("A retired key does not return with an unlock") func retiredKeyDoesNotReturn() throws {
        let (vault, _) = try bench.startEnrolled()
        let old = try #require(bench.keybag().current(.protection(.whenUnlocked)))
        try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.passcode), rolls: true)
        try vault.lock()
        let held = try #require(vault.takeHandOver())
        try vault.retire([old.name])
        try unlock(vault, held.secret)
        #expect(try !vault.lease().lease.keys.contains { $0.generation == old.generation })
        #expect(try vault.keyStatus(of: old.name) == .destroyed)
    }
}
