import Enclave
import EnclaveWire
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// What happens to keys when a passcode is set or changed, and what an older copy of the keybag still opens.
@Suite struct GenerationTests {
    private let bench = Workbench()

    private static let renewed: [KeyPurpose] = KeyPurpose.classes + KeyPurpose.factors
    private static let kept: [KeyPurpose] = [.firstUnlockIndex, .deviceIndex]

    @Test("Without a passcode, the device wraps every key except the passcode class's")
    func withoutAPasscodeTheDeviceWrapsEveryKeyButOne() throws {
        _ = try bench.start().lease()
        let bag = try bench.keybag()
        let expected =
            KeyPurpose.classes.filter { $0 != .protection(.whenPasscodeSetThisDeviceOnly) }
            + [.firstUnlockIndex, .deviceIndex, .passcodeFactor, .presenceFactor, .biometryFactor]
        #expect(bag.slots.map(\.purpose) == expected)
        #expect(bag.slots.allSatisfy { $0.wrapping == .device && $0.wrapped.count == 60 })
        #expect(Set(bag.slots.map(\.generation)).count == bag.slots.count)
        #expect(bag.slots.allSatisfy { ($0.publicKey != nil) == KeyPurpose.factors.contains($0.purpose) })
        #expect(bag.passcode == nil)
    }

    @Test("The first passcode makes new keys and wraps the old ones") func theFirstPasscodeMakesNewKeysAndKeepsTheOldUnderIt() throws {
        let vault = bench.start()
        _ = try vault.lease()
        let before = try bench.keybag()
        try vault.setPasscode(secret(Workbench.passcode))
        let after = try bench.keybag()

        for purpose in Self.renewed {
            let current = try #require(after.current(purpose))
            let wrapping: KeySlot.Wrapping = purpose.availability == .always ? .device : .passcodeAndDevice
            #expect(current.wrapping == wrapping && current.generation != before.current(purpose)?.generation)
            guard let old = before.current(purpose) else { continue }
            let older = try #require(after.slots.first { $0.name == old.name })
            #expect(older.wrapping == wrapping && older.wrapped != old.wrapped && older.publicKey == old.publicKey)
        }
        for purpose in Self.kept {
            let current = try #require(after.current(purpose))
            #expect(current.generation == before.current(purpose)?.generation)
            #expect(current.wrapping == (purpose.availability == .always ? .device : .passcodeAndDevice))
        }
        #expect(after.slots.count == before.slots.count + Self.renewed.count)
        #expect(after.identifier == before.identifier && after.device == before.device)
    }

    @Test(
        "Rows from before the passcode open and lock with their class", arguments: ProtectionClass.allCases.filter { !$0.needsPasscode },
        [nil, AccessControlFlags.userPresence, .devicePasscode])
    func earlierRowsOpenAndLockWithTheirClass(_ protection: ProtectionClass, _ flags: AccessControlFlags?) throws {
        let vault = bench.start()
        _ = try vault.lease()
        let old = try SealedRow(bench.row(protection, flags), in: vault)
        try vault.setPasscode(secret(Workbench.passcode))
        #expect(try vault.read(old, passcode: Workbench.passcode) == old.key)
        try vault.lock()
        if protection.availability == .unlocked {
            #expect(refusal { _ = try vault.read(old, passcode: Workbench.passcode) }?.reason == .locked)
        } else {
            #expect(try vault.read(old, passcode: Workbench.passcode) == old.key)
        }
        let restarted = bench.start()
        if protection.availability != .always {
            #expect(refusal { _ = try restarted.read(old, passcode: Workbench.passcode) }?.reason == .beforeFirstUnlock)
        }
        try restarted.unlock(secret(Workbench.passcode))
        #expect(try restarted.read(old, passcode: Workbench.passcode) == old.key)
    }

    @Test("Nothing new is wrapped by an older generation") func nothingNewIsWrappedByAnOlderGeneration() throws {
        let vault = bench.start()
        _ = try vault.lease()
        let old = try bench.row()
        try vault.setPasscode(secret(Workbench.passcode))
        #expect(refusal { _ = try vault.seal(old) }?.reason == .keysChanged)
        _ = try vault.seal(bench.row())
    }

    /// As SECURITY.md states, later changes do not remove keys from an existing copy.
    @Test("A copy of the state from before the passcode opens only earlier rows")
    func copyFromBeforeThePasscodeOpensOnlyEarlierRows() throws {
        let vault = bench.start()
        _ = try vault.lease()
        let early = try SealedRow(bench.row(), in: vault)
        let copy = bench.store.files
        try vault.setPasscode(secret(Workbench.passcode))
        let late = try SealedRow(bench.row(), in: vault)

        let restored = Workbench(files: copy).start()
        #expect(restored.status.lock == .unlocked)
        #expect(try restored.read(early) == early.key)
        #expect(refusal { _ = try restored.read(late) }?.reason == .keyUnknown)
    }

    @Test("Changing the passcode rewraps the same keys") func aChangeWrapsTheSameKeysAgain() throws {
        let vault = try bench.startProtected()
        let row = try SealedRow(bench.row(.whenUnlocked, .userPresence), in: vault)
        let before = try bench.keybag(), copy = bench.store.files
        try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode))
        let after = try bench.keybag()
        #expect(before.slots.map(\.generation) == after.slots.map(\.generation))
        #expect(before.slots.map(\.publicKey) == after.slots.map(\.publicKey))
        #expect(before.passcode?.salt != after.passcode?.salt)
        for (old, new) in zip(before.slots, after.slots) { #expect((old.wrapped == new.wrapped) == (old.wrapping == .device)) }
        #expect(try vault.read(row, passcode: Workbench.otherPasscode) == row.key)

        // A copy from before a change still opens with the passcode of its time.
        let restored = Workbench(files: copy).start()
        try restored.unlock(secret(Workbench.passcode))
        #expect(try restored.read(row, passcode: Workbench.passcode) == row.key)
    }

    @Test("A keybag decodes to what was encoded") func keybagDecodesToWhatWasEncoded() throws {
        _ = try bench.startProtected()
        let bag = try bench.keybag()
        #expect(try Keybag(derBytes: bag.encoded()) == bag)
        #expect(try bag.encoded().count < EnclaveLimits.keybagBytesMax / 8)
        for slot in bag.slots { #expect(try KeySlot(derBytes: slot.encoded()) == slot) }
        #expect(bag.slots.count < EnclaveLimits.slotsMax / 4)
    }
}
