import Enclave
import EnclaveSoftware
import SimulatedHost

// One step of a world: performed by the implementation, predicted by the model.

/// An operation that was performed, with every instant at which it could have been cut off.
struct Trial {
    let before: World
    let after: World
    let tape: Tape
    let trace: [DiskImage]

    init(_ world: World, _ operation: Operation, fault: SimulatedDisk.Fault? = nil, tracing: Bool = false) throws {
        before = world
        var after = world
        after.times.jump()
        after.model.wall = after.times.wall
        after.path.append(fault.map { .failing(operation, $0) } ?? .operation(operation))
        let machine = after.machine()
        let vault = Vault(copying: world.vault, host: machine.host)
        let arguments = Arguments(world.model, world.stored)
        machine.disk.prepare(fault, tracing: tracing)
        let answers = try Doing(
            vault: vault, machine: machine, arguments: arguments, rows: world.rows, held: world.held, number: world.path.count
        ).perform(operation)
        trace = machine.disk.trace
        machine.disk.prepare()
        var tape = Tape(machine.log.events, from: world.stored)
        try after.expect(operation, arguments: arguments, answers: answers, tape: &tape)
        try after.takeOver(machine, vault: vault, tape: tape)
        self.tape = tape
        self.after = after
    }

    /// Returns the files that may exist after this many steps: as the last write left them, or already as the next one will.
    private func allowed(after steps: Int) -> [StoredFiles] {
        let done = tape.history.lastIndex { $0.steps <= steps } ?? 0
        return tape.history[done...min(done + 1, tape.history.count - 1)].map(\.files)
    }

    /// Returns the files in an image of that instant as values of the model; throws if they are not allowed then.
    func files(in image: DiskImage, after steps: Int) throws -> StoredFiles {
        let keybag = Machine.file(.keybag, in: image), record = Machine.file(.attempts, in: image)
        let allowed = allowed(after: steps)
        guard let bag = allowed.flatMap(\.bags).first(where: { $0.bytes == keybag }) else {
            throw Difference("a keybag is left after \(steps) steps that may not be")
        }
        guard let tries = allowed.flatMap(\.records).first(where: { $0.bytes == record }) else {
            throw Difference("a record of tries is left after \(steps) steps that may not be")
        }
        return StoredFiles().only(bag, tries)
    }

    var comparesBy: Int? { tape.comparisons.first }

    /// Returns the world in which the operation ended at that instant and left this on the disk.
    func cut(at steps: Int, leaving image: DiskImage, _ files: StoredFiles, power: Bool, path step: Step) throws -> World {
        // Rewrapped rows are stored before the keys that they no longer need are retired.
        let isRenewal = if case .operation(.renewItems) = after.path.last { true } else { false }
        var world = isRenewal ? after : before
        world.path = before.path + [step]
        world.ledger = comparesBy.map { $0 <= steps } == true ? after.ledger : before.ledger
        world.times = after.times
        world.stored = files
        world.image = image
        world.model.made = after.model.made
        try world.restart(power: power)
        return world
    }
}

extension World {
    /// Starts the enclave over the content of its disk.
    mutating func restart(power: Bool) throws {
        if power { times.reboot() }
        times.jump()
        model.wall = times.wall
        let disk = SimulatedDisk(image)
        if flaw == .otherDevice { disk.image = DiskImage() }
        device = try DeviceSecret(in: disk.root)
        if flaw != .otherDevice { image = disk.image }
        let machine = machine()
        let vault = Vault(user: Machine.user, host: machine.host)
        var tape = Tape(machine.log.events, from: stored)
        try model.start(&tape)
        image = machine.disk.image
        if model.bag != nil { try compareKeybag(try machine.keybag()) }
        try takeOver(machine, vault: vault, tape: tape)
    }

    /// Returns the world after an event between two operations.
    func after(_ event: Event, seed: UInt64 = 0) throws -> World {
        var world = self
        world.path.append(.event(event))
        switch event {
        case .restart: try world.restart(power: false)
        case .powerCut:
            var chance = SplitMix64(seed: seed)
            world.image = image.survivor(&chance)
            let keybag = Machine.file(.keybag, in: world.image), record = Machine.file(.attempts, in: world.image)
            guard let bag = stored.bags.first(where: { $0.bytes == keybag }),
                let tries = stored.records.first(where: { $0.bytes == record })
            else { throw Difference("a power cut between operations left a file that may not be") }
            world.stored = stored.only(bag, tries)
            try world.restart(power: true)
        case .minutePasses: world.pass(61)
        case .hourPasses: world.pass(3601)
        case .daysPass: world.pass(49 * 3600)
        case .sleep: world.pass(600, asleep: true)
        default: try world.deliver(event)
        }
        return world
    }

    private mutating func pass(_ seconds: Int, asleep: Bool = false) {
        times.pass(seconds, asleep: asleep)
        model.pass(seconds, asleep: asleep)
    }

    /// Delivers events that the enclave receives.
    private mutating func deliver(_ event: Event) throws {
        times.jump()
        model.wall = times.wall
        if event == .readerComesOrGoes { model.readerIsPresent.toggle() }
        let machine = machine()
        var vault = Vault(copying: vault, host: machine.host)
        var tape: Tape
        switch event {
        case .restartUnreadable:
            machine.disk.prepare(.unreadable)
            vault = Vault(user: Machine.user, host: machine.host)
            let status = vault.status
            machine.disk.prepare()
            tape = Tape(machine.log.events, from: stored)
            try model.start(&tape)
            try model.applyExpirations(&tape, isUse: false)
            try compare(status)
        case .readerComesOrGoes:
            if !model.readerIsPresent {
                vault.handleReaderDisconnect()
                model.isSuspended = false
                held = nil
            }
            tape = Tape(machine.log.events, from: stored)
        default:
            switch event {
            case .announcedSleep: vault.handleSleep()
            case .screenLocks: vault.handleScreenLock()
            default: vault.handleScreenUnlock()
            }
            tape = Tape(machine.log.events, from: stored)
            switch event {
            case .announcedSleep: try model.machineSleeps(&tape)
            case .screenLocks: try model.screenLocks(&tape)
            default: try model.screenUnlocks(&tape)
            }
        }
        try takeOver(machine, vault: vault, tape: tape)
        if event == .announcedSleep { pass(600, asleep: true) }
    }

    /// Performs any step; numbers beyond those of an operation are taken modulo.
    func after(_ step: Step) throws -> World {
        switch step {
        case .event(let event): return try after(event, seed: UInt64(path.count))
        case .operation(let operation): return try Trial(self, operation).after
        case .failing(let operation, let fault): return try Trial(self, operation, fault: fault).after
        case .killed(let operation, let instant):
            let trial = try Trial(self, operation, tracing: true)
            let steps = instant % trial.trace.count
            let image = trial.trace[steps]
            return try trial.cut(at: steps, leaving: image, try trial.files(in: image, after: steps), power: false, path: step)
        case .powerCut(let operation, let instant, let seed):
            let trial = try Trial(self, operation, tracing: true)
            let steps = instant % trial.trace.count
            var chance = SplitMix64(seed: seed)
            let image = trial.trace[steps].survivor(&chance)
            return try trial.cut(at: steps, leaving: image, try trial.files(in: image, after: steps), power: true, path: step)
        }
    }
}
