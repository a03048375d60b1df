// The state of a vault, and its changes over time.

import EnclaveWire
import VaubanAccessPolicy
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// The part of its user's keybag that a vault has in memory.
enum VaultContents: Sendable {
    /// No keybag exists yet. The first use creates one without a passcode.
    case empty
    /// The keybag, and the keys of it that are in memory.
    case loaded(Keybag, KeyRing)
    /// The stored state cannot be used, and every request is refused with this message. With `retries` only the storage failed, so the next
    /// use loads it again.
    case unreadable(String, retries: Bool)
}

struct VaultState: Sendable {
    let user: UInt32
    var contents = VaultContents.empty
    var attempts: AttemptRecord?
    /// The boot-time clock, in nanoseconds, before which no passcode is compared.
    var notBefore: UInt64 = 0
    var epoch: Int64 = 0
    /// An epoch that has ended and whose leased keys are not recalled yet.
    var ended: RecalledEpoch?
    var cause: DeviceStatus.Cause = .started
    var since: Int64
    var warnings: [String] = []
    /// The private halves that a fingerprint may use once a passcode has armed it.
    var armed: FingerprintFactors?
    /// The private halves of older pairs, for a limited time after a passcode.
    var resealing: ResealingKeys?
    /// The number of fingerprints that did not match since fingerprints were armed.
    var misses = 0
    /// The class-A keys of a locked device that a fingerprint may open, wrapped by a key that only the reader holds.
    var suspended: SuspendedKeys? {
        didSet { if oldValue != nil && suspended == nil { readerMustErase = true } }
    }
    /// The fingerprint that unlocked the device, until the next lock.
    var unlockingFinger: Evidence.Finger?
    /// Whether the reader holds a key that can no longer open anything.
    var readerMustErase = false
    /// When the vault was last used on the boot-time clock, and how long the machine had slept by then, in nanoseconds.
    var lastUse: UInt64 = 0
    var asleep: UInt64 = 0
    /// The environment that watchers were last notified about.
    var environmentMark: EnvironmentMark?
    /// A lock that waits for the end of its grace period.
    var pendingLock: PendingLock?
    /// The locks until now.
    var lockMark = LockMark()
    /// Whether a screen lock that the keychain follows was reported, and since then neither its end nor an unlock, nor could its end have
    /// been missed.
    var screenIsLocked = false
    /// The state of the access log on the disk; nil if it must be read first.
    var accessLog: AccessLogState?
    /// The identifier of the keybag of an erasure that is not finished, since it is unsure whether that keybag was stored.
    var erasing: [UInt8]?

    struct PendingLock: Sendable {
        let at: UInt64
        let cause: DeviceStatus.Cause
    }

    var keybag: Keybag? { if case .loaded(let keybag, _) = contents { keybag } else { nil } }
    var ring: KeyRing? { if case .loaded(_, let ring) = contents { ring } else { nil } }

    /// The lock state. A vault without a keybag counts as unlocked, since it has no passcode.
    var lockState: LockState {
        switch contents {
        case .empty: .unlocked
        case .loaded(_, let ring): ring.lock
        case .unreadable: .unreadable
        }
    }

    /// Whether the next use loads the state again.
    var retriesLoading: Bool { if case .unreadable(_, retries: true) = contents { true } else { false } }

    /// Throws if the user's state cannot be used.
    func checkReadable() throws(Refusal) {
        if case .unreadable(let message, _) = contents { throw Refusal(.stateUnreadable, message) }
    }

    func secondsToWait(now: UInt64) -> Int64 {
        now >= notBefore ? 0 : Int64((notBefore - now + 999_999_999) / 1_000_000_000)
    }

    /// Throws during a delay after failed attempts.
    func checkNotLockedOut(now: UInt64) throws(Refusal) {
        let wait = secondsToWait(now: now)
        if wait > 0 { throw Refusal(.lockedOut, attemptsLeft: 0, secondsToWait: wait) }
    }

    // MARK: Expirations

    /// Applies everything that has expired: sleep, grace periods, idleness, the age of a passcode. Every use of a vault begins with this,
    /// so that nothing depends on a timer that fires in time or on a login manager that announces sleep. With `isUse` false, the call does
    /// not count as a use for the idle timeout.
    mutating func applyExpirations(_ host: EnclaveHost, isUse: Bool = true) {
        if retriesLoading { reload(host: host) }
        let asleepNow = host.clock.asleep
        let now = host.clock.boot
        defer {
            asleep = asleepNow
            if isUse { lastUse = now }
        }
        if let armed, now < armed.at || now - armed.at > DeviceConditions.Biometry.passcodeAge { disarm() }
        if let resealing, now < resealing.at || now - resealing.at > EnclaveLimits.resealingPeriod { self.resealing = nil }
        guard case .loaded(let keybag, let ring) = contents, keybag.passcode != nil else { return }
        let grace = UInt64(keybag.settings.graceSeconds) * 1_000_000_000
        let idle = UInt64(keybag.settings.idleSeconds) * 1_000_000_000
        let hasSlept = asleepNow > asleep && asleepNow - asleep > grace + EnclaveLimits.sleepNoticed
        guard case .unlocked = ring else {
            if hasSlept { countLock() }
            return
        }
        if hasSlept {
            lock(.slept, host)
        } else if let pendingLock, now >= pendingLock.at {
            lock(pendingLock.cause, host)
        } else if idle > 0, now > lastUse, now - lastUse >= idle {
            lock(.idle, host)
        }
    }

    /// When `applyExpirations` next has an effect, in nanoseconds of the boot-time clock; nil for never.
    var nextExpiration: UInt64? {
        guard case .loaded(let keybag, .unlocked) = contents, keybag.passcode != nil else { return armedUntil }
        let resealingUntil = resealing.map { $0.at + EnclaveLimits.resealingPeriod + 1 }
        let idle = UInt64(keybag.settings.idleSeconds) * 1_000_000_000
        return [pendingLock?.at, idle > 0 ? lastUse + idle : nil, armedUntil, resealingUntil].compactMap { $0 }.min()
    }

    private var armedUntil: UInt64? { armed.map { $0.at + DeviceConditions.Biometry.passcodeAge + 1 } }

    // MARK: Lock

    /// Erases the class-A keys, or suspends them for a fingerprint. Unless the device is unlocked and has a passcode, it only counts as a
    /// lock, if it counts at all.
    mutating func lock(_ cause: DeviceStatus.Cause, _ host: EnclaveHost) {
        if cause.voidsEntries { countLock() }
        guard case .loaded(let keybag, let ring) = contents, case .unlocked(_, _, let keys) = ring, keybag.passcode != nil else { return }
        suspend(keys, host)
        setKeyRing(ring.afterLock, cause: cause, host: host)
        host.trace?("lock p:\(user)")
        endEpoch(everything: false)
    }

    /// Counts a lock, which voids what was entered before it and is still being derived, even if it finds the keychain locked.
    private mutating func countLock() { lockMark.locks += 1 }

    /// Counts a screen lock that the keychain follows: at once, also with a grace period, so that a passcode that was entered before
    /// neither unlocks behind the screen nor cancels the lock that is due. It is reported several times, and only the first report counts,
    /// since a passcode may have been entered after that.
    mutating func countScreenLock() {
        if !screenIsLocked { countLock() }
        screenIsLocked = true
    }

    /// Throws if a lock came after a passcode was entered, at `mark`. `command` is what to run then.
    func checkNotLocked(since mark: LockMark, command: String) throws(Refusal) {
        guard mark == lockMark else {
            throw Refusal(.locked, "it was locked while the passcode was checked; to enter it again, run: \(command)")
        }
    }

    /// Begins a new epoch. Keys that were leased until now must be recalled.
    mutating func endEpoch(everything: Bool) {
        resealing = nil
        ended = RecalledEpoch(epoch: epoch, everything: everything || ended?.everything ?? false)
        epoch += 1
    }

    /// Throws if the keychain was locked, or its keys changed, since an epoch; nil means any epoch.
    func checkUnchanged(since earlier: Int64?) throws(Refusal) {
        guard earlier == nil || earlier == epoch else { throw Refusal(.locked, "the keychain was locked or changed meanwhile") }
    }

    /// Replaces the keys in memory because the lock state changed.
    mutating func setKeyRing(_ ring: KeyRing, cause: DeviceStatus.Cause, host: EnclaveHost) {
        updateKeyRing { _ in ring }
        self.cause = cause
        since = host.clock.referenceMicroseconds
        pendingLock = nil
        unlockingFinger = nil
        if case .unlocked = ring { screenIsLocked = false }
    }

    /// Replaces the keys in memory without a change of the lock state.
    mutating func updateKeyRing(_ update: (KeyRing) -> KeyRing) {
        if case .loaded(let keybag, let ring) = contents { contents = .loaded(keybag, update(ring)) }
    }

    // MARK: Keybag

    /// Returns the keybag and the keys in memory. The first use creates them, without a passcode.
    mutating func createIfNeeded(_ host: EnclaveHost) throws(Refusal) -> (Keybag, KeyRing) {
        try checkReadable()
        if case .loaded(let keybag, let ring) = contents { return (keybag, ring) }
        let (bag, held) = try Keybag.withoutPasscode(of: user, backend: host.backend)
        try host.write(AttemptRecord(keybag: bag.identifier), to: .attempts, user: user).throwIfUnsure()
        try write(bag, host)
        let ring = KeyRing(unlocked: held)
        contents = .loaded(bag, ring)
        attempts = AttemptRecord(keybag: bag.identifier)
        setKeyRing(ring, cause: .started, host: host)
        return (bag, ring)
    }

    /// Writes another keybag and, once it is durable, uses it.
    mutating func replaceKeybag(_ bag: Keybag, _ host: EnclaveHost) throws(Refusal) {
        try write(bag, host)
        if let ring { contents = .loaded(bag, ring) }
    }

    private mutating func write(_ bag: Keybag, _ host: EnclaveHost) throws(Refusal) {
        guard case .unsure(let refusal) = try host.write(bag, to: .keybag, user: user) else { return }
        // Only the disk determines whether the old or the new keybag is stored. Nothing may be sealed under keys that one of them lacks, so
        // all keys in memory are dropped, and the keybag on the disk is loaded again.
        reload(host: host)
        throw refusal
    }

    /// Loads the stored state again, as a restart would.
    mutating func reload(host: EnclaveHost) {
        let before = (epoch, ended, environmentMark, lockMark, screenIsLocked, erasing)
        self = VaultState.load(user: user, host: host)
        (epoch, ended, environmentMark, lockMark, screenIsLocked, erasing) = before
        endEpoch(everything: true)
    }

    /// Resets the count of attempts. If this cannot be written, the old count stays on disk, so that a restart is stricter and never more
    /// lenient.
    mutating func clearAttempts(user: UInt32, host: EnclaveHost) {
        guard let keybag else { return }
        let cleared = AttemptRecord(keybag: keybag.identifier)
        if attempts != cleared { _ = try? host.write(cleared, to: .attempts, user: user) }
        attempts = cleared
        notBefore = 0
    }
}

/// The locks of a vault until some instant. What was entered before a lock and is derived after it must not unlock.
package struct LockMark: Hashable, Sendable {
    /// Locks on request, by sleep and with the screen, including those that found the keychain locked.
    fileprivate var locks: UInt64 = 0
}

extension DeviceStatus.Cause {
    /// Whether a lock for this cause voids what was entered before it. A screen lock counts when it is reported (`countScreenLock`), not
    /// when its grace period ends. Idleness does not count: nothing shows better than an entered passcode that the user is here.
    fileprivate var voidsEntries: Bool { self == .lockRequested || self == .slept }
}

/// An ended epoch, whose leased keys must be recalled from keychaind.
package struct RecalledEpoch: Hashable, Sendable {
    package let epoch: Int64
    /// Whether the keys themselves changed, and not only the lock state.
    package let everything: Bool

    package init(epoch: Int64, everything: Bool) {
        self.epoch = epoch
        self.everything = everything
    }
}

/// The result of a write of state that did not fail.
enum WriteResult {
    case durable
    /// The new file is in place, but a power failure may restore the old one.
    case unsure(Refusal)

    func throwIfUnsure() throws(Refusal) {
        if case .unsure(let refusal) = self { throw refusal }
    }
}

extension EnclaveHost {
    /// Writes a state file durably. On failure the old one stays in place, or the result is `unsure` (Specs/state-files.md).
    func write<Content: DERReadable & DERWritable>(_ content: Content, to name: StateName, user: UInt32) throws(Refusal) -> WriteResult {
        let bytes: [UInt8]
        do {
            let encoded = try content.encoded()
            bytes = try StateEnvelope(content: encoded, name: name, user: user, backend: backend).encoded()
            // What could not be read again must not replace what can.
            guard bytes.count <= name.bytesMax else { throw DERError("the file would be too large") }
            _ = try Content(derBytes: encoded)
        } catch {
            throw Refusal(.internalError, "state cannot be written: \(error)")
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
