// Fingers: what a passcode arms, what a match may use, and what ends it.

import EnclaveWire
package import VaubanAccessPolicy
internal import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes
internal import VaubanUserModel

/// The private halves that a matched finger stands for, in memory only after a passcode and where a finger is enrolled.
/// They end with a restart, five misses, 48 hours, another enrollment or the passcode's removal.
struct FingerprintFactors: Sendable {
    let keys: [HeldKey]
    /// Boot-time clock of the passcode.
    let at: UInt64
}

/// Class-A keys under a key that the reader holds and this process does not.
struct SuspendedKeys: Sendable {
    struct Key: Sendable {
        let purpose: KeyPurpose
        let generation: [UInt8]
        let wrapped: [UInt8]
    }

    let keys: [Key]
    /// On its way to the reader; gone from here once it was handed over.
    var handOver: HeldSecret?

    /// Without some keys, which no row needs any more.
    func without(_ names: [KeyName]) -> SuspendedKeys {
        SuspendedKeys(
            keys: keys.filter { !names.contains(KeyName(purpose: $0.purpose.number, generation: $0.generation)) }, handOver: handOver)
    }
}

/// A secret that is handed on once.
package final class HeldSecret: Sendable {
    package let secret: SecretBytes
    package init(_ secret: consuming SecretBytes) { self.secret = secret }

    package static func ofOptional(_ secret: consuming SecretBytes?) -> HeldSecret? {
        guard let secret = secret.take() else { return nil }
        return HeldSecret(secret)
    }
}

extension VaultState {
    /// After a right passcode: fingers count again (C-140).
    mutating func arm(_ passcodeKey: borrowing SecretBytes, _ host: EnclaveHost) throws(Refusal) {
        guard let keybag, keybag.enrollment != nil else { return disarm() }
        var keys: [HeldKey] = []
        for slot in keybag.slots where [.presenceFactor, .biometryFactor, .enrollmentFactor].contains(slot.purpose) {
            keys.append(HeldKey(purpose: slot.purpose, generation: slot.generation, key: try keybag.open(slot, with: passcodeKey)))
        }
        armed = FingerprintFactors(keys: keys, at: host.clock.boot)
        misses = 0
    }

    mutating func disarm() {
        armed = nil
        suspended = nil
    }

    /// Keeps the class-A keys for a finger, where the user chose that and a finger could be taken now.
    mutating func suspend(_ keys: [HeldKey], _ host: EnclaveHost) {
        suspended = nil
        guard keybag?.enrollment?.unlocks == true, circumstances(host).biometry.refusal(now: host.clock.boot) == nil,
            let holder = try? Keybag.randomKey()
        else { return }
        var wrapped: [SuspendedKeys.Key] = []
        for key in keys {
            guard
                let blob = try? KeyWrap.wrap(
                    key.key, under: holder, label: Self.suspensionLabel, context: Self.context(key.purpose, key.generation))
            else { return }
            wrapped.append(SuspendedKeys.Key(purpose: key.purpose, generation: key.generation, wrapped: blob))
        }
        suspended = SuspendedKeys(keys: wrapped, handOver: HeldSecret(holder))
    }

    static let suspensionLabel = "vauban suspended class key v1"
    static func context(_ purpose: KeyPurpose, _ generation: [UInt8]) -> [UInt8] { [UInt8(purpose.number)] + generation }
}

extension VaultState {
    /// Whether the reader holds something that opens nothing any more, once.
    mutating func takeReaderDrop() -> Bool {
        defer { readerIsToDrop = false }
        return readerIsToDrop && suspended == nil
    }
}

extension Vault {
    /// What the reader is to hold while the device is locked, once.
    package func takeHandOver() -> HeldSecret? { state.withLock { $0.suspended?.handOver.take() } }

    /// The reader is gone, and with it what it held.
    package func readerIsGone() { state.withLock { $0.suspended = nil } }

    package var canUnlockByFinger: Bool {
        state.withLock { state in
            state.settle(host, isUse: false)
            return state.suspended != nil && state.circumstances(host).biometry.refusal(now: host.clock.boot) == nil
        }
    }

    /// Why no finger may be asked for now; nil when one may.
    package var fingerRefusal: Refusal.Reason? {
        state.withLock { state in
            state.settle(host, isUse: false)
            return state.circumstances(host).biometry.refusal(now: host.clock.boot)
        }
    }

    /// A finger failed (C-137). After five no finger counts until a passcode comes (C-138).
    package func fingerMissed() {
        state.withLock { state in
            state.settle(host, isUse: false)
            state.misses += 1
            if state.misses >= DeviceConditions.Biometry.missesMax { state.disarm() }
        }
    }

    /// A finger matched: evidence, if the list of fingers is still the enrolled one. Another list ends the enrollment.
    package func fingerMatched(fingers: [UInt8]) throws(Refusal) -> Evidence.Finger {
        try state.withLock { (state) throws(Refusal) -> Evidence.Finger in
            state.settle(host)
            try state.endEnrollmentUnless(fingers, user: user, host: host)
            if let reason = state.circumstances(host).biometry.refusal(now: host.clock.boot) { throw Refusal(reason) }
            guard let enrollment = state.keybag?.enrollment else { throw Refusal(.biometryNotEnrolled) }
            return Evidence.Finger(at: host.clock.boot, enrollment: enrollment.generation)
        }
    }

    /// The reader says that the list of fingers is this one.
    package func fingersAre(_ fingers: [UInt8]) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.settle(host, isUse: false)
            try state.endEnrollmentUnless(fingers, user: user, host: host)
        }
    }

    /// Opens the class-A keys with what the reader held.
    package func unlock(by finger: Evidence.Finger, _ held: borrowing SecretBytes) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.settle(host)
            guard let suspended = state.suspended, case .locked(let device, let firstUnlock)? = state.ring,
                finger.enrollment == state.keybag?.enrollment?.generation
            else { throw Refusal(.biometryLockedOut) }
            var keys: [HeldKey] = []
            for key in suspended.keys {
                do throws(WrapError) {
                    let opened = try KeyWrap.unwrap(
                        key.wrapped, under: held, label: VaultState.suspensionLabel,
                        context: VaultState.context(key.purpose, key.generation))
                    keys.append(HeldKey(purpose: key.purpose, generation: key.generation, key: opened))
                } catch {
                    throw Refusal(.biometryLockedOut, "the reader does not hold the right key")
                }
            }
            state.suspended = nil
            state.become(.unlocked(device: device, firstUnlock: firstUnlock, unlocked: keys), .fingerMatched, host)
            state.unlockingFinger = finger
        }
    }

    /// A new enrollment, by a ceremony that began with the passcode whose key this is.
    package func enrol(fingers: [UInt8], unlocks: Bool, passcodeKey: borrowing SecretBytes) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.settle(host)
            let (bag, _) = try state.created(user: user, host: host)
            try bag.throwIfChanged(since: passcodeKey)
            guard fingers.contains(where: { $0 != 0 }) else { throw Refusal(.biometryNotEnrolled, "the reader has learnt no finger") }
            try state.replace(try bag.enrolling(fingers, unlocks: unlocks, passcodeKey), user: user, host: host)
            // What an earlier enrollment was to open; whether this one may unlock is its own choice.
            state.suspended = nil
            try state.arm(passcodeKey, host)
        }
    }

    package func endEnrollment() throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.settle(host)
            try state.endEnrollment(user: user, host: host)
        }
    }
}

extension VaultState {
    /// The generation is destroyed on disk first. Where that fails it is refused until the enclave can write.
    fileprivate mutating func endEnrollment(user: UInt32, host: EnclaveHost) throws(Refusal) {
        disarm()
        guard var bag = keybag, bag.enrollment != nil else { return }
        bag.endEnrollment()
        try replace(bag, user: user, host: host)
    }

    fileprivate mutating func endEnrollmentUnless(_ fingers: [UInt8], user: UInt32, host: EnclaveHost) throws(Refusal) {
        guard let enrollment = keybag?.enrollment, enrollment.fingers != fingers else { return }
        warnings.removeAll { $0 == Self.fingersChanged }
        warnings.append(Self.fingersChanged)
        try endEnrollment(user: user, host: host)
    }

    private static let fingersChanged =
        "the list of enrolled fingers was changed without Vauban; fingers are not accepted until you enrol again with the passcode"
}
