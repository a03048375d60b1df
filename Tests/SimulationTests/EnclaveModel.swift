import Enclave
import VaubanAccessPolicy
import VaubanRefusal
import VaubanUserModel

// A second implementation of the enclave, without cryptography: what it stores, how time affects it, what it answers. Keys are numbers,
// passcodes are names, and a file is the value in it. It follows Specs/key-hierarchy.md and Specs/state-files.md, not the implementation.

/// A passcode of the model; the driver has the texts.
enum Passcode: Hashable { case first, second, wrong }

/// A key by its purpose and the number that the model gave it.
struct Name: Hashable {
    let purpose: KeyPurpose
    var number: Int
}

/// The content of a keybag file.
struct Bag: Hashable {
    struct Enrollment: Hashable {
        let pair: Name
        let fingers: Int
    }

    var identity: Int
    var passcode: Passcode?
    /// Current generations before older ones, in the order of the file.
    var slots: [Name]
    /// The newest first; only a limited number is kept.
    var destroyed: [Name] = []
    var settings = LockSettings.standard
    /// The recovery key that opens it.
    var recovery: Int?
    /// The one before, until that one is confirmed.
    var earlierRecovery: Int?
    var recovered: Int64?
    var enrollment: Enrollment?

    func current(_ purpose: KeyPurpose) -> Name? { slots.first { $0.purpose == purpose } }

    var hasOlderClassKeys: Bool { slots.contains { KeyPurpose.classes.contains($0.purpose) && current($0.purpose) != $0 } }
    var olderPairs: [Name] { slots.filter { KeyPurpose.factors.contains($0.purpose) && current($0.purpose) != $0 } }

    /// Returns whether all pairs of a method exist, and one of them is an older one.
    func isOlder(_ way: [Name]) -> Bool { way.allSatisfy(slots.contains) && way.contains { current($0.purpose) != $0 } }

    mutating func destroy(_ isDestroyed: (Name) -> Bool) {
        destroyed = Array((slots.filter(isDestroyed) + destroyed).prefix(EnclaveLimits.destroyedMax))
        slots.removeAll(where: isDestroyed)
    }

    mutating func endEnrollment() {
        destroy { $0.purpose == .enrollmentFactor }
        enrollment = nil
    }
}

/// The content of a record of attempts.
struct Record: Hashable {
    var identity: Int
    var failures: Int64 = 0
    /// The number of failed attempts that it lists.
    var guesses = 0
}

/// Why the model refuses.
struct Refused: Error, Hashable {
    let reason: Refusal.Reason
    var attemptsLeft: Int64?
    var secondsToWait: Int64?

    init(_ reason: Refusal.Reason, attemptsLeft: Int64? = nil, secondsToWait: Int64? = nil) {
        self.reason = reason
        self.attemptsLeft = attemptsLeft
        self.secondsToWait = secondsToWait
    }
}

/// The memory of the enclave. Times are seconds that have passed since an event, or that remain, so that two enclaves with the same future
/// are equal.
struct EnclaveModel: Hashable {
    struct Due: Hashable {
        var seconds: Int
        let cause: DeviceStatus.Cause
    }

    static let armedFor = 48 * 3600
    static let resealingFor = 300

    var bag: Bag?
    var record: Record?
    var lock = LockState.unlocked
    var cause = DeviceStatus.Cause.started
    var since: Int64 = 0
    var warnings = 0
    /// Seconds until a passcode is compared again.
    var wait: Int64 = 0
    /// Seconds since the passcode that enabled fingerprints.
    var armed: Int?
    /// Seconds since the passcode with which items are resealed to the current pairs.
    var resealing: Int?
    var misses = 0
    var isSuspended = false
    var readerIsPresent = true
    var idle = 0
    /// Seconds of sleep that have not been noticed yet.
    var slept = 0
    var due: Due?
    /// An epoch to be recalled; true if all keys have changed.
    var ended: Bool?
    var epoch: Int64 = 0
    /// The number of keys and keybags made so far.
    var made = 0
    var items: Set<Item> = []
    /// Items that the last renewal moved to a newer class key, with the result.
    var renewed: [Item: Item] = [:]
    var wall: Int64 = 0

    // MARK: Time

    mutating func pass(_ seconds: Int, asleep: Bool = false) {
        wait = max(0, wait - Int64(seconds))
        armed = armed.map { $0 + seconds }
        resealing = resealing.map { $0 + seconds }
        idle += seconds
        due?.seconds -= seconds
        if asleep { slept += seconds }
    }

    mutating func applyExpirations(_ tape: inout Tape, isUse: Bool = true) throws {
        if lock == .unreadable { try reload(&tape) }
        let sleptSince = slept
        defer {
            slept = 0
            if isUse { idle = 0 }
        }
        if let armed, armed > Self.armedFor { disarm() }
        if let resealing, resealing > Self.resealingFor { self.resealing = nil }
        guard lock == .unlocked, let bag, bag.passcode != nil else { return }
        if sleptSince > Int(bag.settings.graceSeconds) + 1 {
            close(.slept)
        } else if let due, due.seconds <= 0 {
            close(due.cause)
        } else if bag.settings.idleSeconds > 0, idle >= Int(bag.settings.idleSeconds) {
            close(.idle)
        }
    }

    // MARK: The lock

    mutating func close(_ cause: DeviceStatus.Cause) {
        guard lock == .unlocked, let bag, bag.passcode != nil else { return }
        isSuspended = bag.enrollment != nil && fingerRefusal == nil
        setKeyRing(.locked, cause)
        end(everything: false)
    }

    mutating func setKeyRing(_ lock: LockState, _ cause: DeviceStatus.Cause) {
        self.lock = lock
        self.cause = cause
        since = wall
        due = nil
    }

    mutating func end(everything: Bool) {
        resealing = nil
        ended = everything || ended ?? false
        epoch += 1
    }

    // MARK: Stored state

    mutating func reload(_ tape: inout Tape) throws {
        try load(&tape)
        end(everything: true)
    }

    /// Starts the enclave: its connections are new, so nothing has to be recalled.
    mutating func start(_ tape: inout Tape) throws {
        (epoch, ended) = (0, nil)
        try load(&tape)
    }

    /// Loads the files as a start does: of the memory, only what the room keeps is left.
    mutating func load(_ tape: inout Tape) throws {
        var fresh = EnclaveModel()
        (fresh.since, fresh.wall, fresh.readerIsPresent, fresh.items) = (wall, wall, readerIsPresent, items)
        (fresh.ended, fresh.epoch, fresh.made, fresh.renewed) = (ended, epoch, made, renewed)
        self = fresh
        guard try tape.read(.keybag) else { return becomeUnreadable() }
        guard let stored = tape.stored.bag else {
            if try !tape.list() { becomeUnreadable() }
            return
        }
        guard try tape.read(.attempts) else { return becomeUnreadable() }
        bag = stored
        lock = stored.passcode == nil ? .unlocked : .beforeFirstUnlock
        let found = tape.stored.record.flatMap { $0.identity == stored.identity ? $0 : nil }
        if found == nil && stored.passcode != nil { throw Difference("a passcode without its record of tries is stored") }
        record = found ?? Record(identity: stored.identity)
        wait = Self.delay(after: record?.failures ?? 0)
    }

    private mutating func becomeUnreadable() {
        lock = .unreadable
        warnings = 1
    }

    func throwIfUnreadable() throws { if lock == .unreadable { throw Refused(.stateUnreadable) } }

    /// Creates a keybag without a passcode, as the first use does.
    mutating func created(_ tape: inout Tape) throws -> Bag {
        try throwIfUnreadable()
        if let bag { return bag }
        let new = makeBag()
        try throwIfNotDurable(try tape.write(Record(identity: new.identity)))
        try replace(new, &tape)
        record = Record(identity: new.identity)
        setKeyRing(.unlocked, .started)
        return new
    }

    mutating func makeBag() -> Bag {
        made += 1
        var bag = Bag(identity: made, passcode: nil, slots: [])
        for purpose in KeyPurpose.classes where !purpose.isPasscodeClass { bag.slots.append(make(purpose)) }
        for purpose in [.firstUnlockIndex, .deviceIndex] + KeyPurpose.factors { bag.slots.append(make(purpose)) }
        return bag
    }

    mutating func make(_ purpose: KeyPurpose) -> Name {
        made += 1
        return Name(purpose: purpose, number: made)
    }

    mutating func replace(_ new: Bag, _ tape: inout Tape) throws {
        switch try tape.write(new) {
        case .durable: bag = new
        case .unsure:
            // The file is relied on again once it was read again.
            try reload(&tape)
            throw Refused(.storageFailed)
        case let end: try throwIfNotDurable(end)
        }
    }

    func throwIfNotDurable(_ end: StorageEvent.End) throws {
        switch end {
        case .durable: return
        case .full: throw Refused(.storageFull)
        case .failed, .unsure: throw Refused(.storageFailed)
        }
    }
}
