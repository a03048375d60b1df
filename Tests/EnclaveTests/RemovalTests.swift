import Enclave
import EnclaveBook
import EnclaveWire
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// Removing the passcode, setting it again, and starting over.
@Suite struct RemovalTests {
    private let bench = Workbench()
    private static let passcodeClass = ProtectionClass.whenPasscodeSetThisDeviceOnly
    private static let controls: [AccessControlFlags?] = [nil, .userPresence, .devicePasscode, .applicationPassword]

    private func password(_ flags: AccessControlFlags?) -> String? { flags?.contains(.applicationPassword) == true ? "application's" : nil }

    private func rows(_ vault: Vault) throws -> [SealedRow] {
        try ProtectionClass.allCases.filter { !$0.needsPasscode }.flatMap { protection in
            try Self.controls.map { try SealedRow(bench.row(protection, $0), in: vault, password: password($0)) }
        }
    }

    /// Rows of every cycle, with and without a passcode, open in every later one.
    @Test("Setting and removing passcodes keeps every item except when-passcode-set ones")
    func cyclesKeepEveryItemButThoseOfThePasscodeClass() throws {
        var vault = bench.start()
        _ = try vault.lease()
        var kept = try rows(vault)
        var gone: [SealedRow] = []
        for cycle in 1...3 {
            let passcode = "correct horse \(cycle)"
            try vault.setPasscode(secret(passcode))
            kept += try rows(vault)
            gone.append(try SealedRow(bench.row(Self.passcodeClass), in: vault))
            for same in [vault, try bench.restarted(unlocked: passcode)] {
                for row in kept {
                    #expect(try same.read(row, passcode: passcode, password: password(row.row.accessControl?.flags)) == row.key)
                }
                for (index, row) in gone.enumerated() {
                    if index == cycle - 1 { #expect(try same.read(row) == row.key); continue }
                    #expect(refusal { _ = try same.read(row) }?.reason == .keyDestroyed)
                }
            }
            try vault.removePasscode(secret(passcode))
            vault = bench.start()
            #expect(vault.status.lock == .unlocked && !vault.status.passcodeIsSet)
            kept += try rows(vault)
            for row in kept where row.row.accessControl == nil { #expect(try vault.read(row) == row.key) }
        }
    }

    @Test("Removing the passcode is reported, and recalls all leases") func removalIsReportedAndRecallsAllLeases() throws {
        let vault = bench.start()
        try vault.setPasscode(Workbench.passcode, recovery: EveryUse.recoveryBytes)
        try vault.lock()
        _ = vault.takeEndedEpoch()
        #expect(refusal { try vault.removePasscode(secret("wrong one")) }?.reason == .authenticationFailed)
        #expect(vault.status.passcodeIsSet && vault.takeEndedEpoch() == nil)
        try vault.removePasscode(secret(Workbench.passcode))
        let status = vault.status
        #expect(status.lock == .unlocked && status.cause == .passcodeRemoved && !status.passcodeIsSet && !status.recoveryKeyIsSet)
        #expect(status.attemptsLeft == 5 && vault.takeEndedEpoch()?.everything == true)
        #expect(refusal { try vault.removePasscode(secret(Workbench.passcode)) }?.reason == .passcodeNotSet)
        #expect(
            refusal { try vault.recover(with: EveryUse.recoveryKey, to: secret(Workbench.passcode), newRecoveryKey: nil) }?.reason
                == .recoveryKeyNotSet)
    }

    /// The removal is not a flag: with every file, the device secret and the passcode, nothing in the new keybag opens the row.
    @Test("Removing the passcode erases the keys of its class") func removedPasscodeErasesTheKeysOfItsClass() throws {
        let vault = try bench.startProtected()
        let row = try SealedRow(bench.row(Self.passcodeClass), in: vault)
        let before = bench.store.files, oldBag = try bench.keybag()
        let passcodeKey = try vault.authenticate(secret(Workbench.passcode))
        try vault.removePasscode(secret(Workbench.passcode))
        let bag = try bench.keybag()
        #expect(bag.destroyed.map(\.generation).contains(row.row.generation) && bag.current(.protection(Self.passcodeClass)) == nil)

        let wrapped = try ByTheBook.fields(row.wrapped), binding = try row.row.encoded()
        var keys = [bytes(passcodeKey), bytes(try bench.device.deviceKey(label: "vauban keybag device wrap v1", context: bag.identifier))]
        for slot in bag.slots { keys.append(bytes(try ByTheBook.slotKey(slot, of: bag, device: bench.device, passcodeKey: passcodeKey))) }
        for key in keys {
            #expect(throws: (any Error).self) { try ByTheBook.open(wrapped[2], key: key, label: "vauban item key v1", context: binding) }
        }
        // The old keybag still has it: a copy of the files keeps its keys, as the specification states.
        let slot = try #require(oldBag.current(.protection(Self.passcodeClass)))
        let old = bytes(try ByTheBook.slotKey(slot, of: oldBag, device: bench.device, passcodeKey: passcodeKey))
        #expect(try ByTheBook.open(wrapped[2], key: old, label: "vauban item key v1", context: binding) == row.key)
        #expect(try Workbench(files: before).restarted(unlocked: Workbench.passcode).read(row) == row.key)
    }

    @Test(
        "A removal that cannot be written leaves the old state or the new one",
        arguments: [StateError.full, .failed("broken"), .unsure("the folder does not sync")])
    func aRemovalThatCannotBeWrittenLeavesOldOrNew(_ fault: StateError) throws {
        let vault = try bench.startProtected()
        let row = try SealedRow(bench.row(Self.passcodeClass), in: vault)
        bench.store.fail(.keybag, with: fault)
        #expect(refusal { try vault.removePasscode(secret(Workbench.passcode)) } != nil)
        bench.store.fail(.keybag, with: nil)
        let restarted = bench.start()
        if case .unsure = fault {
            // The vault determined by reading, as a restart does, which of the two is on disk.
            #expect(vault.status.passcodeIsSet == restarted.status.passcodeIsSet && vault.takeEndedEpoch()?.everything == true)
        } else {
            #expect(vault.status.passcodeIsSet && restarted.status.passcodeIsSet)
            #expect(try vault.read(row) == row.key)
            try vault.removePasscode(secret(Workbench.passcode))
        }
    }

    // MARK: Erasing

    @Test("An erased keychain opens no earlier item") func erasedKeychainOpensNoEarlierItem() throws {
        let (vault, _) = try bench.startEnrolled()
        let rows = try ProtectionClass.allCases.map { try SealedRow(bench.row($0), in: vault) }
        let before = try bench.keybag()
        try vault.eraseWith(Workbench.passcode)
        let bag = try bench.keybag()
        #expect(bag.identifier != before.identifier && bag.passcode == nil && bag.enrollment == nil && bag.recovery == nil)
        #expect(Set(bag.destroyed) == Set(before.slots.map(\.name)) && Set(bag.slots.map(\.name)).isDisjoint(with: bag.destroyed))
        for same in [vault, bench.start()] {
            for row in rows { #expect(refusal { _ = try same.read(row) }?.reason == .keyDestroyed) }
            for slot in before.slots { #expect(try same.keyStatus(of: slot.name) == .destroyed) }
            #expect(
                same.status.lock == .unlocked && !same.status.passcodeIsSet && same.status.warnings.isEmpty && same.status.attemptsLeft == 5
            )
        }
        #expect(vault.status.cause == .erased && vault.takeEndedEpoch()?.everything == true)
        try vault.setPasscode(secret(Workbench.otherPasscode))
        try bench.start().unlock(secret(Workbench.otherPasscode))
    }

    @Test("Erasing without the passcode needs ten failed attempts first") func erasingWithoutThePasscodeWaitsForTenFailures() throws {
        let vault = try bench.startProtected()
        for failures in 0..<EnclaveLimits.failuresBeforeErasure {
            #expect(refusal { try vault.eraseWith(nil) }?.reason == .authenticationFailed, "\(failures)")
            bench.clock.advance(seconds: 3600)
            #expect(refusal { try vault.eraseWith("wrong one") }?.reason == .authenticationFailed)
        }
        // The delay of the tenth attempt is running, and a restart counts no less.
        try bench.start().eraseWith(nil)
        #expect(!bench.start().status.passcodeIsSet)
        try bench.start(7).eraseWith(nil)
    }

    @Test("The list of destroyed keys is bounded") func destroyedNamesAreBounded() throws {
        let vault = bench.start()
        for _ in 0..<60 { try vault.eraseWith(nil) }
        let bag = try bench.keybag()
        #expect(bag.destroyed.count == EnclaveLimits.destroyedMax && Set(bag.destroyed).count == bag.destroyed.count)
        #expect(try bag.encoded().count < EnclaveLimits.keybagBytesMax / 2)
        #expect(try bench.start().lease().lease.keys.count == 8)
    }
}
