import Enclave
import EnclaveSoftware
import EnclaveWire
import SimulatedHost
import VaubanAccessPolicy
import VaubanSecretBytes

/// A row as keychaind stores it, with the key that opening it must return.
struct SealedRow {
    var row: RowBinding
    var wrapped: [UInt8]
    let key: [UInt8]
}

/// The attempts that were compared, counted independently: the one invariant that no restart, crash, clock or fault may violate.
struct GuessLedger: Hashable {
    var wrong: Int64 = 0
    var lastWrong = 0

    mutating func compared(isRight: Bool, at total: Int) throws {
        let delay = EnclaveModel.delay(after: wrong)
        guard total - lastWrong >= delay else {
            throw Difference("guess \(wrong + 1) was compared \(total - lastWrong) s after the last; \(delay) s are due")
        }
        wrong = isRight ? 0 : wrong + 1
        lastWrong = total
    }
}

/// An enclave and its model at one instant. A copy continues independently.
struct World {
    var model = EnclaveModel()
    var stored = StoredFiles()
    var image: DiskImage
    var times = Times()
    var vault: Vault
    var device: any EnclaveBackend
    var rows: [Item: SealedRow] = [:]
    var names: [Name: [UInt8]] = [:]
    /// The key that the reader holds for a locked enclave.
    var held: HeldSecret?
    var ledger = GuessLedger()
    var path: [Step] = []
    let flaw: Flaw?

    /// Creates a machine on which the enclave was never used.
    init(flaw: Flaw? = nil) throws {
        let disk = SimulatedDisk()
        device = try DeviceSecret(in: disk.root)
        self.flaw = flaw
        image = disk.image
        let machine = Machine(image: image, times: times, device: device, readerIsPresent: true, flaw: flaw)
        vault = Vault(user: Machine.user, host: machine.host)
        var tape = Tape(machine.log.events, from: stored)
        try model.load(&tape)
        try tape.throwIfNotAtItsEnd()
    }

    func machine() -> Machine { Machine(image: image, times: times, device: device, readerIsPresent: model.readerIsPresent, flaw: flaw) }

    /// Takes over the state of a machine after a step, and compares everything that does not depend on the step.
    mutating func takeOver(_ machine: Machine, vault: Vault, tape: Tape) throws {
        try tape.throwIfNotAtItsEnd()
        self.vault = vault
        stored = tape.stored
        let before = Machine.file(.keybag, in: image)
        image = machine.disk.image
        try compareFiles()
        if Machine.file(.keybag, in: image) != before { try compareKeybag(try machine.keybag()) }
        let ended = vault.endedEpoch
        if let ended { vault.confirmRecall(of: ended) }
        guard ended?.everything == model.ended else {
            throw Difference("to call back: \(String(describing: ended?.everything)), in the model \(String(describing: model.ended))")
        }
        model.ended = nil
        if let handOver = vault.takeHandOver() { held = handOver }
        if rows.count > 40 { forgetRows() }
    }

    /// Keeps long runs short: removes the half of many rows with the oldest class keys.
    private mutating func forgetRows() {
        let sorted = rows.keys.sorted { ($0.classKey.number, $0.kind.rawValue) < ($1.classKey.number, $1.kind.rawValue) }
        for item in sorted.prefix(rows.count / 2) { rows[item] = nil }
        model.items = Set(rows.keys)
    }

    /// Checks that the files are those of the tape, and that the user has no other durable ones.
    private func compareFiles() throws {
        guard Machine.file(.keybag, in: image) == stored.bags[0].bytes, Machine.file(.attempts, in: image) == stored.records[0].bytes else {
            throw Difference("a state file is not what was written last")
        }
    }

    /// Checks that the keybag on the disk has the model's slots, and that each name always means the same key.
    mutating func compareKeybag(_ keybag: Keybag) throws {
        guard let bag = stored.bag else { throw Difference("a keybag that the model does not know") }
        guard keybag.slots.map(\.purpose) == bag.slots.map(\.purpose) else {
            throw Difference("slots are \(keybag.slots.map(\.purpose.number)), in the model \(bag.slots.map(\.purpose.number))")
        }
        for (slot, name) in zip(keybag.slots, bag.slots) {
            if let known = names[name], known != slot.generation { throw Difference("the slot of \(name) holds another generation") }
            names[name] = slot.generation
            let wrapping: KeySlot.Wrapping = bag.passcode == nil || slot.purpose.availability == .always ? .device : .passcodeAndDevice
            guard slot.wrapping == wrapping else { throw Difference("\(name) is wrapped by the \(slot.wrapping)") }
        }
        // Some may have been made and removed within one operation.
        for (gone, name) in zip(keybag.destroyed, bag.destroyed) where names[name] == nil { names[name] = gone.generation }
        guard keybag.destroyed.map(\.generation) == bag.destroyed.map({ names[$0] }),
            Set(keybag.slots.map(\.generation)).count == keybag.slots.count
        else {
            throw Difference("the destroyed keys differ")
        }
    }
}
