import Enclave
import EnclaveWire
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// New class keys before the old ones, rewrapped rows, and the end of keys that no row needs.
@Suite struct RollTests {
    private let bench = Workbench()
    private static let controls: [AccessControlFlags?] = [nil, .userPresence, .biometryCurrentSet, [.or, .biometryAny, .devicePasscode]]

    private func roll(_ vault: Vault) throws {
        try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.passcode), rolls: true)
    }

    @Test("Rolling makes new class keys and nothing else") func aRollMakesEveryClassKeyAnewAndNothingElse() throws {
        let (vault, _) = try bench.startEnrolled()
        let before = try bench.keybag()
        _ = vault.takeEndedEpoch()
        try roll(vault)
        let after = try bench.keybag()
        for purpose in KeyPurpose.classes {
            #expect(
                after.current(purpose)?.generation != before.current(purpose)?.generation
                    && after.current(purpose)?.wrapping == before.current(purpose)?.wrapping)
        }
        #expect(after.slots.count == before.slots.count + KeyPurpose.classes.count)
        #expect(Array(after.slots.dropFirst(KeyPurpose.classes.count)).map(\.name) == before.slots.map(\.name))
        #expect(vault.takeEndedEpoch()?.everything == true && vault.status.hasOlderKeys && vault.status.biometry.isReady)
    }

    @Test("Rolling keeps the lock state", arguments: ["unlocked", "locked", "before first unlock"]) func aRollKeepsTheLock(_ state: String)
        throws
    {
        var vault = try bench.startProtected()
        let rows = try ProtectionClass.allCases.map { try SealedRow(bench.row($0), in: vault) }
        switch state {
        case "locked": try vault.lock()
        case "before first unlock": vault = bench.start()
        default: break
        }
        let before = vault.status.lock
        try roll(vault)
        #expect(vault.status.lock == before)
        for row in rows {
            let closed = row.row.protection.refusal(while: before)
            var read: [UInt8]?
            #expect(refusal { read = try vault.read(row) }?.reason == closed && read == (closed == nil ? row.key : nil))
            #expect(refusal { _ = try vault.seal(bench.row(row.row.protection)) }?.reason == closed)
        }
        try vault.unlock(secret(Workbench.passcode))
        for row in rows { #expect(try vault.read(row) == row.key) }
    }

    @Test("A rewrapped row keeps its item key and access control") func aRewrappedRowKeepsItsKeyAndItsControl() throws {
        let (vault, _) = try bench.startEnrolled()
        for protection in ProtectionClass.allCases {
            for flags in Self.controls {
                let old = try SealedRow(bench.row(protection, flags), in: vault)
                try roll(vault)
                let generation = try #require(bench.keybag().current(.protection(protection))).generation
                #expect(refusal { _ = try vault.rewrap(old.row, wrapped: old.wrapped, to: old.row.generation) }?.reason == .keysChanged)
                bench.journal.clear()
                let wrapped = try vault.rewrap(old.row, wrapped: old.wrapped, to: generation)
                #expect(bench.journal.events.isEmpty && wrapped != old.wrapped)
                let new = SealedRow(old.row.with(generation: generation), wrapped: wrapped, key: old.key)
                #expect(try vault.asks(for: new) == vault.asks(for: old))
                #expect(try flags == nil ? vault.read(new) == old.key : vault.read(new, fingers: Sample.fingers) == old.key)
                // Neither blob is accepted for the other row.
                #expect(refusal { _ = try vault.open(new.row, wrapped: old.wrapped) }?.reason == .rowDamaged)
                #expect(refusal { _ = try vault.open(old.row, wrapped: new.wrapped) }?.reason == .rowDamaged)
                try vault.retire(
                    bench.keybag().slots.filter { $0.name.purpose == protection.number && $0.generation != generation }.map(\.name))
                #expect(refusal { _ = try vault.read(old) }?.reason == .keyDestroyed)
                try retireOlder(vault)
            }
        }
    }

    private func retireOlder(_ vault: Vault) throws {
        let bag = try bench.keybag()
        try vault.retire(bag.slots.filter { KeyPurpose.classes.contains($0.purpose) && bag.keyStatus(of: $0.name) == .older }.map(\.name))
    }

    @Test("Rewrapping needs an open class and an undamaged row") func aRewrapNeedsTheClassOpenAndTheRowWhole() throws {
        let vault = try bench.startProtected()
        let old = try SealedRow(bench.row(), in: vault)
        try roll(vault)
        let generation = try #require(bench.keybag().current(.protection(.whenUnlocked))).generation
        #expect(refusal { _ = try vault.rewrap(old.row, wrapped: Array(old.wrapped.dropLast()), to: generation) }?.reason == .rowDamaged)
        let strange = old.row.with(generation: Sample.lostGeneration)
        #expect(refusal { _ = try vault.rewrap(strange, wrapped: old.wrapped, to: generation) }?.reason == .keyUnknown)
        try vault.lock()
        #expect(refusal { _ = try vault.rewrap(old.row, wrapped: old.wrapped, to: generation) }?.reason == .locked)
    }

    @Test("Only older class keys can be retired") func onlyOlderClassKeysAreRetired() throws {
        let vault = try bench.startProtected()
        try roll(vault)
        let bag = try bench.keybag()
        let files = bench.store.files
        for slot in bag.slots {
            let isOlderClass = KeyPurpose.classes.contains(slot.purpose) && bag.keyStatus(of: slot.name) == .older
            #expect(try vault.keyStatus(of: slot.name) == bag.keyStatus(of: slot.name))
            if !isOlderClass { #expect(refusal { try vault.retire([slot.name]) }?.reason == .badParameter) }
        }
        // One key that must stay keeps all of them.
        let older = bag.slots.filter { KeyPurpose.classes.contains($0.purpose) && bag.keyStatus(of: $0.name) == .older }.map(\.name)
        let current = try #require(bag.current(.protection(.always))).name
        #expect(refusal { try vault.retire(older + [current]) }?.reason == .badParameter)
        #expect(bench.store.files == files)
        try vault.retire(older)
        #expect(!vault.status.hasOlderKeys)
        for name in older { for same in [vault, bench.start()] { #expect(try same.keyStatus(of: name) == .destroyed) } }
        let strange = KeyName(purpose: 6, generation: Sample.lostGeneration)
        #expect(try vault.keyStatus(of: strange) == .unknown)
        try vault.retire([strange])
        #expect(try vault.keyStatus(of: strange) == .unknown)
    }

    /// A keybag that could not be read again, or a lease that could not be decoded, would shut the user out.
    @Test("Older keys are limited, and every lease can be decoded") func olderKeysAreBoundedAndTheLeaseStaysOneThatIsUnderstood() throws {
        let (vault, _) = try bench.startEnrolled()
        var rolls = 0
        while refusal({ try roll(vault) }) == nil { rolls += 1 }
        #expect(rolls == 7 && refusal { try roll(vault) }?.reason == .unsupported)
        let lease = try vault.lease().lease
        // One more renewal would have been too many.
        #expect(lease.keys.count <= EnclaveLimits.leasedKeysMax && lease.keys.count + 6 > EnclaveLimits.leasedKeysMax)
        #expect(try KeyLease(derBytes: lease.encoded()) == lease)
        #expect(throws: (any Error).self) {
            let key = try #require(lease.keys.first)
            let tooMany = KeyLease(
                user: 1, epoch: 0, lock: .unlocked, passcodeIsSet: true, keys: [KeyLease.Key](repeating: key, count: KeyLease.keysMax + 1)
            )
            _ = try KeyLease(derBytes: tooMany.encoded())
        }
        try bench.restarted(unlocked: Workbench.passcode).changePasscode(
            from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode))
        let restarted = try bench.restarted(unlocked: Workbench.otherPasscode)
        try restarted.enroll(
            fingers: Sample.otherFingers, unlocks: true, passcodeKey: restarted.authenticate(secret(Workbench.otherPasscode)))
        try retireOlder(restarted)
        try restarted.changePasscode(from: secret(Workbench.otherPasscode), to: secret(Workbench.passcode), rolls: true)
    }
}
