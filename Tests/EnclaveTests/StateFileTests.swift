import Enclave
import EnclaveWire
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// Invariant 8: a file that cannot be read is set aside and reported, and an empty one never replaces it.
@Suite struct StateFileTests {
    private let bench = Workbench()
    private static let file = "1000/keybag"

    /// Expects that every verb is refused, since each of them could be the one that makes a new keybag.
    private func expectEveryVerbIsRefused(_ vault: Vault, sourceLocation: SourceLocation = #_sourceLocation) {
        for use in EveryUse.refusable {
            #expect(refusal { try use.perform(vault) }?.reason == .stateUnreadable, "\(use.name)", sourceLocation: sourceLocation)
        }
        #expect(vault.status.warnings.count == 1, sourceLocation: sourceLocation)
    }

    private func protectedFile() throws -> [UInt8] {
        _ = try bench.startProtected()
        return try #require(bench.store.files[Self.file])
    }

    @Test("An altered keybag is set aside and never replaced") func anAlteredKeybagIsPutAsideAndNeverReplaced() throws {
        let good = try protectedFile()
        var bad = [good + [0], Array(good.dropLast()), [], [0x30, 0x00], [UInt8](repeating: 0, count: good.count)]
        for index in stride(from: 0, to: good.count, by: 13) {
            var altered = good
            altered[index] ^= 0x40
            bad.append(altered)
        }
        for content in bad {
            let bench = Workbench(files: [Self.file: content])
            let vault = bench.start()
            guard !bench.store.files.keys.contains(Self.file) else {
                // The one field that can be altered without damaging the rest names the device.
                #expect(vault.status.warnings.first?.contains("another device") == true)
                #expect(bench.store.files[Self.file] == content)
                continue
            }
            expectEveryVerbIsRefused(vault)
            #expect(bench.store.files == ["1000/keybag.quarantined-1": content])
            #expect(vault.status.warnings.first?.contains("keybag.quarantined-1") == true)
            #expect(bench.journal.events.isEmpty)
        }
    }

    @Test("After a quarantine, restarts refuse until a good copy is restored")
    func aRestartAfterAQuarantineStaysRefusedUntilAGoodCopyIsBack() throws {
        let good = try protectedFile()
        bench.store.files[Self.file] = Array(good.dropLast())
        _ = bench.start()
        for _ in 1...2 {
            let vault = bench.start()
            expectEveryVerbIsRefused(vault)
            #expect(vault.status.warnings.first?.contains("keybag.quarantined-1") == true)
            #expect(bench.store.files[Self.file] == nil)
        }
        bench.store.files[Self.file] = good
        try bench.start().unlock(secret(Workbench.passcode))
    }

    /// However many files are set aside, the warning stays short enough for the wires.
    @Test("Many quarantined files do not make the warning too long") func warningStaysShortWithManyQuarantinedFiles() throws {
        for number in 1...60 { bench.store.files["1000/keybag.quarantined-\(number)"] = [0] }
        let vault = bench.start()
        expectEveryVerbIsRefused(vault)
        #expect(try DeviceStatus(derBytes: vault.status.encoded()) == vault.status)
    }

    @Test("Content of another user or file counts as altered") func anotherUsersOrAnotherFilesContentIsAlteration() throws {
        _ = try protectedFile()
        bench.store.files["1001/keybag"] = bench.store.files[Self.file]
        expectEveryVerbIsRefused(bench.start(1001))
        #expect(bench.store.files["1001/keybag"] == nil && bench.store.files["1001/keybag.quarantined-1"] != nil)

        bench.store.files["1002/keybag"] = bench.store.files["1000/attempts"]
        expectEveryVerbIsRefused(bench.start(1002))
        #expect(bench.store.files["1002/keybag.quarantined-1"] == bench.store.files["1000/attempts"])

        // Even in a valid envelope, a keybag names its user.
        try bench.put(bench.keybag(), as: .keybag, of: 1003)
        expectEveryVerbIsRefused(bench.start(1003))
        #expect(bench.store.files["1003/keybag"] == nil)
    }

    /// A process that could write envelopes still could not exchange slots.
    @Test("Keybag slots are bound to their places") func slotsAreBoundToTheirPlaces() throws {
        _ = try protectedFile()
        let bag = try bench.keybag()
        let held = bag.slots.filter { $0.wrapping == .device }
        func replacing(_ slot: KeySlot, by new: KeySlot) -> Keybag {
            var changed = bag
            changed.slots = bag.slots.map { $0 == slot ? new : $0 }
            return changed
        }
        func slot(_ slot: KeySlot, purpose: KeyPurpose? = nil, generation: [UInt8]? = nil, wrapped: [UInt8]? = nil) -> KeySlot {
            KeySlot(
                purpose: purpose ?? slot.purpose, generation: generation ?? slot.generation, wrapping: slot.wrapping,
                wrapped: wrapped ?? slot.wrapped, publicKey: slot.publicKey)
        }
        let first = try #require(held.first), second = try #require(held.dropFirst().first)
        let bad = [
            replacing(first, by: slot(first, purpose: second.purpose)),
            replacing(first, by: slot(first, generation: Sample.lostGeneration)),
            replacing(first, by: slot(first, wrapped: second.wrapped)),
        ]
        for changed in bad {
            try bench.put(changed, as: .keybag)
            let before = bench.store.files
            expectEveryVerbIsRefused(bench.start())
            #expect(bench.store.files == before)
        }
        // The slots that the passcode opens are checked when it is entered.
        let closed = try #require(bag.slots.last { $0.wrapping == .passcodeAndDevice && $0.purpose.availability != nil })
        try bench.put(replacing(closed, by: slot(closed, generation: Sample.lostGeneration)), as: .keybag)
        let vault = bench.start()
        #expect(refusal { try vault.unlock(secret(Workbench.passcode)) }?.reason == .stateUnreadable)
        #expect(vault.status.lock == .beforeFirstUnlock)
    }

    @Test("Another device refuses the keybag and leaves the file in place") func anotherDeviceRefusesAndLeavesTheFileInPlace() throws {
        _ = try protectedFile()
        let files = bench.store.files
        let other = Workbench(files: files, device: 2)
        expectEveryVerbIsRefused(other.start())
        #expect(other.store.files == files)
        #expect(other.start().status.warnings.first?.contains("another device") == true)
        try Workbench(files: files).start().unlock(secret(Workbench.passcode))
    }

    /// The room runs without its device secret, so that the user gets an explanation; it sets no file aside meanwhile.
    @Test("A broken backend refuses every request and changes no file") func brokenBackendRefusesAndChangesNothing() throws {
        _ = try protectedFile()
        let files = bench.store.files
        let host = EnclaveHost(
            backend: BrokenBackend(BackendError("the device secret is gone")), store: bench.store, clock: bench.clock,
            stretcher: PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1)))
        for user in [Workbench.user, 2000] {
            let vault = Vault(user: user, host: host)
            expectEveryVerbIsRefused(vault)
            #expect(vault.status.warnings == ["the device secret is gone"])
        }
        #expect(bench.store.files == files)
    }

    @Test("A backend that fails while a file is verified sets no file aside", arguments: 1...2)
    func aFailingBackendSetsNoFileAside(answers: Int) throws {
        _ = try protectedFile()
        let files = bench.store.files
        let host = EnclaveHost(
            backend: FailingDevice(bench.device, answers: answers), store: bench.store, clock: bench.clock,
            stretcher: PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1)))
        let vault = Vault(user: Workbench.user, host: host)
        #expect(vault.status.lock == .unreadable && vault.status.warnings == ["the chip does not answer"])
        #expect(bench.store.files == files)
    }

    @Test("A read error does not count as an empty disk") func readErrorIsNotAnEmptyDisk() throws {
        _ = try protectedFile()
        let files = bench.store.files
        bench.store.failReading(with: .failed("a bad sector"))
        expectEveryVerbIsRefused(bench.start())
        bench.store.failReading(with: nil)
        #expect(bench.store.files == files)
        try bench.start().unlock(secret(Workbench.passcode))
    }

    /// A temporary failure is over at the next use of any kind; what was open before stays closed until the passcode.
    @Test("A disk that recovers is used again at the next use", arguments: EveryUse.syncing) func recoveredDiskIsUsedAtTheNextUse(
        _ use: EveryUse
    ) throws {
        _ = try protectedFile()
        bench.store.failReading(with: .failed("a bad sector"))
        let vault = bench.start()
        expectEveryVerbIsRefused(vault)
        bench.store.failReading(with: nil)
        _ = refusal { try use.perform(vault) }
        #expect(refusal { try vault.checkPasscodeCanBeTried() }?.reason != .stateUnreadable)
        #expect(vault.status.lock == .beforeFirstUnlock && vault.status.warnings.isEmpty)
        #expect(vault.takeEndedEpoch()?.everything == true)
    }

    @Test("Unreadable state is not reported as unlocked") func unreadableStateIsNotReportedAsUnlocked() throws {
        let good = try protectedFile()
        bench.store.files[Self.file] = Array(good.dropLast())
        #expect(bench.start().status.lock == .unreadable)
    }

    @Test("The first use writes the attempt record, then the keybag") func aUsersFirstUseWritesTheRecordThenTheKeybag() throws {
        let vault = bench.start()
        #expect(bench.store.files.isEmpty && vault.status.lock == .unlocked && vault.status.warnings.isEmpty)
        _ = try vault.lease()
        #expect(bench.journal.events == [.wrote(.attempts), .wrote(.keybag)])
        bench.journal.clear()
        _ = try vault.lease()
        _ = try vault.seal(bench.row())
        #expect(bench.journal.events.isEmpty)
    }

    @Test("A first use that cannot be written creates nothing", arguments: [StateName.attempts, .keybag])
    func aFirstUseThatCannotBeWrittenMakesNothing(_ name: StateName) throws {
        bench.store.fail(name, with: .full)
        let vault = bench.start()
        #expect(refusal { _ = try vault.lease() }?.reason == .storageFull)
        #expect(bench.store.files[Self.file] == nil)
        bench.store.fail(name, with: nil)
        _ = try vault.lease()
        #expect(try bench.start().lease().lease == vault.lease().lease)
    }
}

/// A backend that answers a number of times and then no more.
private final class FailingDevice: EnclaveBackend {
    private let device: MemoryDevice
    private let answersLeft: Atomic<Int>

    init(_ device: MemoryDevice, answers: Int) {
        self.device = device
        answersLeft = Atomic(answers)
    }

    var deviceIdentifier: [UInt8] { device.deviceIdentifier }

    func deviceKey(label: String, context: [UInt8]) throws(BackendError) -> SecretBytes {
        guard answersLeft.subtract(1, ordering: .relaxed).oldValue > 0 else { throw BackendError("the chip does not answer") }
        return try device.deviceKey(label: label, context: context)
    }

    func tangle(_ input: borrowing SecretBytes, label: String, context: [UInt8]) throws(BackendError) -> SecretBytes {
        throw BackendError("the chip does not answer")
    }
}
