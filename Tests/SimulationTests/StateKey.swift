import Enclave
import SimulatedHost
import VaubanAccessPolicy
import VaubanUserModel

/// Two worlds with the same key have the same future according to the model, the files and the clocks: keys are numbered in order, the two
/// passcodes and recovery keys are distinguished only by which of them is correct, and what is only displayed (when, how often) is left
/// out.
struct StateKey: Hashable {
    private let model: EnclaveModel
    private let bags: [Bag?]
    private let records: [Record?]
    private let guesses: Int64
    private let sinceGuess: Int
    private let isDurable: Bool
    private let files: Set<String>

    init(_ world: World) {
        var numbers: Set<Int> = []
        for bag in world.stored.bags.compactMap(\.value) + [world.model.bag].compactMap(\.self) {
            numbers.insert(bag.identity)
            numbers.formUnion(bag.slots.map(\.number))
        }
        for record in world.stored.records.compactMap(\.value) { numbers.insert(record.identity) }
        for item in world.model.items {
            numbers.insert(item.classKey.number)
            numbers.formUnion(item.methods.joined().map(\.number))
        }
        var ranks: [Int: Int] = [:]
        for (rank, number) in numbers.sorted().enumerated() { ranks[number] = rank + 1 }
        func ranked(_ name: Name) -> Name { Name(purpose: name.purpose, number: ranks[name.number] ?? 0) }
        func ranked(_ bag: Bag) -> Bag {
            var ranked = bag
            ranked.identity = ranks[bag.identity] ?? 0
            ranked.passcode = bag.passcode.map { _ in .first }
            ranked.slots = bag.slots.map { Name(purpose: $0.purpose, number: ranks[$0.number] ?? 0) }
            // The items that need a key show whether it is remembered as destroyed.
            ranked.destroyed = []
            ranked.recovery = bag.recovery.map { _ in 1 }
            ranked.earlierRecovery = bag.earlierRecovery.map { _ in 2 }
            ranked.recovered = bag.recovered.map { _ in 0 }
            ranked.enrollment = bag.enrollment.map {
                Bag.Enrollment(pair: Name(purpose: $0.pair.purpose, number: ranks[$0.pair.number] ?? 0), fingers: 0)
            }
            return ranked
        }
        func ranked(_ record: Record) -> Record {
            var ranked = record
            ranked.identity = ranks[record.identity] ?? 0
            return ranked
        }
        var model = world.model
        model.bag = model.bag.map(ranked)
        model.record = model.record.map(ranked)
        model.items = Set(
            model.items.map { Item(kind: $0.kind, classKey: ranked($0.classKey), methods: $0.methods.map { $0.map(ranked) }) })
        (model.since, model.epoch, model.made, model.wall) = (0, 0, 0, 0)
        // Idle time matters only if it may lock, and only up to that limit.
        let idleMax = Int(model.bag?.settings.idleSeconds ?? 0)
        model.idle = idleMax > 0 && model.lock == .unlocked && model.bag?.passcode != nil ? min(model.idle, idleMax) : 0
        if model.lock != .unlocked || model.bag?.passcode == nil { model.slept = 0 }
        model.resealing = model.resealing.map { min($0, EnclaveModel.resealingFor + 1) }
        model.armed = model.armed.map { min($0, EnclaveModel.armedFor + 1) }
        self.model = model
        bags = world.stored.bags.map { $0.value.map(ranked) }
        records = world.stored.records.map { $0.value.map(ranked) }
        guesses = world.ledger.wrong
        sinceGuess = guesses > 0 ? min(world.times.total - world.ledger.lastWrong, 3600) : 0
        isDurable = world.image.isDurable
        files = Set(world.image.files.keys)
    }
}
