// What a vault knows, and what time does to it.

import EnclaveWire
import VaubanAccessPolicy
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// `ring` and `keybag` are there together or not at all.
struct VaultState: Sendable {
    let user: UInt32
    var keybag: Keybag?
    var ring: KeyRing?
    var attempts: AttemptRecord?
    /// Boot-time clock, nanoseconds: no try before.
    var notBefore: UInt64 = 0
    var epoch: Int64 = 0
    /// An epoch that has ended and whose keys have not been called back yet.
    var ended: RecalledEpoch?
    var cause: DeviceStatus.Cause = .started
    var since: Int64
    var warnings: [String] = []
    /// Set when the user's state cannot be used; then everything is refused with this sentence.
    var unreadable: String?
    /// The disk would not give it: the next use tries again.
    var isPassing = false
    /// The private halves that a finger may use, since a passcode armed them.
    var armed: FingerprintFactors?
    /// The private halves of older pairs, for a while after a passcode.
    var resealing: ResealingKeys?
    /// Fingers that failed since then.
    var misses = 0
    /// The class-A keys of a locked device that a finger may open, under a key that only the reader holds.
    var suspended: SuspendedKeys? {
        didSet { if oldValue != nil && suspended == nil { readerIsToDrop = true } }
    }
    /// The finger that unlocked, until the next lock.
    var unlockingFinger: Evidence.Finger?
    /// What the reader holds opens nothing any more.
    var readerIsToDrop = false
    /// Boot-time clock of the last use, and how long the machine had slept by then.
    var lastUse: UInt64 = 0
    var asleep: UInt64 = 0
    /// What those who look were last told that it is worth looking at.
    var environmentMark: EnvironmentMark?
    /// A lock that waits for its grace to end.
    var lockDue: LockDue?

    struct LockDue: Sendable {
        let at: UInt64
        let cause: DeviceStatus.Cause
    }

    func throwIfUnreadable() throws(Refusal) {
        if let unreadable { throw Refusal(.stateUnreadable, unreadable) }
    }

    func secondsToWait(now: UInt64) -> Int64 {
        now >= notBefore ? 0 : Int64((notBefore - now + 999_999_999) / 1_000_000_000)
    }

    func throwIfLockedOut(now: UInt64) throws(Refusal) {
        let wait = secondsToWait(now: now)
        if wait > 0 { throw Refusal(.lockedOut, triesLeft: 0, secondsToWait: wait) }
    }

    // MARK: Time

    /// Carries out what is due by now. Every use of a vault begins with this, so that nothing depends on a timer being in
    /// time, nor on a login manager that announces sleep.
    mutating func settle(_ host: EnclaveHost, isUse: Bool = true) {
        if isPassing { reload(host: host) }
        let asleepNow = host.clock.asleep
        let now = host.clock.boot
        defer {
            asleep = asleepNow
            if isUse { lastUse = now }
        }
        if let armed, now < armed.at || now - armed.at > DeviceConditions.Biometry.passcodeAge { disarm() }
        if let resealing, now < resealing.at || now - resealing.at > EnclaveLimits.resealingTime { self.resealing = nil }
        guard case .unlocked = ring, let keybag, keybag.passcode != nil else { return }
        let grace = UInt64(keybag.settings.graceSeconds) * 1_000_000_000
        let idle = UInt64(keybag.settings.idleSeconds) * 1_000_000_000
        if asleepNow > asleep, asleepNow - asleep > grace + EnclaveLimits.sleepNoticed {
            close(.slept, host)
        } else if let lockDue, now >= lockDue.at {
            close(lockDue.cause, host)
        } else if idle > 0, now > lastUse, now - lastUse >= idle {
            close(.idle, host)
        }
    }

    /// When `settle` has something to do next; boot-time clock.
    var nextDue: UInt64? {
        guard case .unlocked = ring, let keybag, keybag.passcode != nil else { return armedUntil }
        let resealingUntil = resealing.map { $0.at + EnclaveLimits.resealingTime + 1 }
        let idle = UInt64(keybag.settings.idleSeconds) * 1_000_000_000
        return [lockDue?.at, idle > 0 ? lastUse + idle : nil, armedUntil, resealingUntil].compactMap { $0 }.min()
    }

    private var armedUntil: UInt64? { armed.map { $0.at + DeviceConditions.Biometry.passcodeAge + 1 } }

    // MARK: The lock

    /// Erases the class-A keys, or puts them where only a finger brings them back. A device that is not unlocked, or has
    /// no passcode, stays as it is.
    mutating func close(_ cause: DeviceStatus.Cause, _ host: EnclaveHost) {
        guard case .unlocked(_, _, let keys) = ring, let ring, keybag?.passcode != nil else { return }
        suspend(keys, host)
        become(ring.afterLock, cause, host)
        host.trace?("lock p:\(user)")
        endEpoch(everything: false)
    }

    /// Begins a new epoch: what was lent until now is to be given back.
    mutating func endEpoch(everything: Bool) {
        resealing = nil
        ended = RecalledEpoch(epoch: epoch, everything: everything || ended?.everything ?? false)
        epoch += 1
    }

    mutating func become(_ ring: KeyRing, _ cause: DeviceStatus.Cause, _ host: EnclaveHost) {
        self.ring = ring
        self.cause = cause
        since = host.clock.referenceMicroseconds
        lockDue = nil
        unlockingFinger = nil
    }

    // MARK: The keybag

    /// The keybag and the open keys; the first use makes them, without a passcode.
    mutating func created(user: UInt32, host: EnclaveHost) throws(Refusal) -> (Keybag, KeyRing) {
        try throwIfUnreadable()
        if let keybag, let ring { return (keybag, ring) }
        let (bag, held) = try Keybag.withoutPasscode(of: user, backend: host.backend)
        try host.write(AttemptRecord(keybag: bag.identifier), .attempts, user).orThrow()
        try replace(bag, user: user, host: host)
        let open = KeyRing(unlocked: held)
        attempts = AttemptRecord(keybag: bag.identifier)
        become(open, .started, host)
        return (bag, open)
    }

    /// Writes another keybag and, once it stands, goes on with it.
    mutating func replace(_ bag: Keybag, user: UInt32, host: EnclaveHost) throws(Refusal) {
        switch try host.write(bag, .keybag, user) {
        case .durable: keybag = bag
        case .unsure(let refusal):
            // Old or new, only the disk knows. Nothing is sealed under keys that one of them does not have: all that was
            // in memory goes, and what the disk settles on is read again.
            reload(host: host)
            throw refusal
        }
    }

    /// Begins again from what is stored, as a restart would.
    mutating func reload(host: EnclaveHost) {
        let before = (epoch, ended, environmentMark)
        self = VaultState.load(user: user, host: host)
        (epoch, ended, environmentMark) = before
        endEpoch(everything: true)
    }

    /// Begins the count of tries anew. If this cannot be written, the old count stays on disk: a restart is stricter,
    /// never more lenient.
    mutating func clearAttempts(user: UInt32, host: EnclaveHost) {
        guard let keybag else { return }
        let cleared = AttemptRecord(keybag: keybag.identifier)
        if attempts != cleared { _ = try? host.write(cleared, .attempts, user) }
        attempts = cleared
        notBefore = 0
    }
}

/// What keychaind has to give back.
package struct RecalledEpoch: Hashable, Sendable {
    package let epoch: Int64
    /// True when the keys themselves have changed, and not only the lock.
    package let everything: Bool

    package init(epoch: Int64, everything: Bool) {
        self.epoch = epoch
        self.everything = everything
    }
}

/// How a write of state ended, where it did not fail.
enum WriteResult {
    case durable
    /// The new file stands now; after a power cut it may be the old one.
    case unsure(Refusal)

    func orThrow() throws(Refusal) {
        if case .unsure(let refusal) = self { throw refusal }
    }
}

extension EnclaveHost {
    /// Writes a state file, durably, or refuses with the old one in place; or cannot say which (Specs/state-files.md).
    func write(_ content: some DERWritable, _ name: StateName, _ user: UInt32) throws(Refusal) -> WriteResult {
        let bytes: [UInt8]
        do {
            bytes = try StateEnvelope(content: try content.encoded(), name: name, user: user, backend: backend).encoded()
        } catch {
            throw Refusal(.internalFault, "state cannot be written: \(error)")
        }
        do throws(StateError) {
            try store.replace(name, of: user, with: bytes)
            return .durable
        } catch {
            switch error {
            case .full: throw Refusal(.storageFull)
            case .failed(let why): throw Refusal(.storageFailed, why)
            case .unsure(let why): return .unsure(Refusal(.storageFailed, why))
            }
        }
    }
}
