// Fingerprints: how a passcode arms them, which keys a match may use, and how they end.

import EnclaveWire
package import VaubanAccessPolicy
internal import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes
internal import VaubanUserModel

/// The private halves that a matched fingerprint may use. They are in memory only after a passcode and while a finger is enrolled, until
/// a restart, five misses, 48 hours, another enrollment or the removal of the passcode.
struct FingerprintFactors: Sendable {
    let keys: [HeldKey]
    /// When the passcode was entered, in nanoseconds of the boot-time clock.
    let at: UInt64
}

/// The class-A keys, wrapped by a key that only the reader holds.
struct SuspendedKeys: Sendable {
    struct Key: Sendable {
        let purpose: KeyPurpose
        let generation: [UInt8]
        let wrapped: [UInt8]
    }

    var keys: [Key]
    /// The connection of the reader that holds the key.
    let connection: UInt64
    /// The wrapping key until it is sent to the reader; nil afterwards.
    var handOver: HeldSecret?

    /// Returns the keys without those that no row needs any more.
    func without(_ names: [KeyName]) -> SuspendedKeys {
        var rest = self
        rest.keys.removeAll { names.contains(KeyName(purpose: $0.purpose.number, generation: $0.generation)) }
        return rest
    }
}

/// A secret that can be taken once.
package final class HeldSecret: Sendable {
    package let secret: SecretBytes
    package init(_ secret: consuming SecretBytes) { self.secret = secret }

    package static func ofOptional(_ secret: consuming SecretBytes?) -> HeldSecret? {
        guard let secret = secret.take() else { return nil }
        return HeldSecret(secret)
    }
}

extension VaultState {
    /// Arms fingerprints after a correct passcode (C-140).
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

    /// Keeps the class-A keys for an unlock by fingerprint, if the user chose that and a fingerprint can be accepted now.
    mutating func suspend(_ keys: [HeldKey], _ host: EnclaveHost) {
        suspended = nil
        let connection = host.reader.connection
        guard keybag?.enrollment?.unlocks == true, conditions(host).biometry.refusal(now: host.clock.boot) == nil,
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
        suspended = SuspendedKeys(keys: wrapped, connection: connection, handOver: HeldSecret(holder))
    }

    static let suspensionLabel = "vauban suspended class key v1"
    static func context(_ purpose: KeyPurpose, _ generation: [UInt8]) -> [UInt8] { [UInt8(purpose.number)] + generation }
}

extension VaultState {
    /// Returns whether the reader must erase its key, which can no longer open anything. Returns true once.
    mutating func takeReaderEraseRequest() -> Bool {
        defer { readerMustErase = false }
        return readerMustErase && suspended == nil
    }
}

extension Vault {
    /// Takes the key that the reader is to hold while the device is locked. Returns it once.
    package func takeHandOver() -> HeldSecret? { state.withLock { $0.suspended?.handOver.take() } }

    /// Discards the suspended keys, since the reader disconnected and its key is lost.
    package func handleReaderDisconnect() { state.withLock { $0.suspended = nil } }

    package var canUnlockByFinger: Bool {
        state.withLock { state in
            state.applyExpirations(host, isUse: false)
            return state.suspended?.connection == host.reader.connection
                && state.conditions(host).biometry.refusal(now: host.clock.boot) == nil
        }
    }

    /// Why no fingerprint can be accepted now; nil if one can.
    package var fingerRefusal: Refusal.Reason? {
        state.withLock { state in
            state.applyExpirations(host, isUse: false)
            return state.conditions(host).biometry.refusal(now: host.clock.boot)
        }
    }

    /// Counts a fingerprint that did not match (C-137). After five, none is accepted until a passcode is entered (C-138).
    package func recordFingerMiss() {
        state.withLock { state in
            state.applyExpirations(host, isUse: false)
            state.misses += 1
            if state.misses >= DeviceConditions.Biometry.missesMax { state.disarm() }
        }
    }

    /// Accepts a matched fingerprint as evidence if the list of fingers is still the enrolled one. A different list ends the enrollment.
    package func acceptFingerMatch(fingers: [UInt8]) throws(Refusal) -> Evidence.Finger {
        try state.withLock { (state) throws(Refusal) -> Evidence.Finger in
            state.applyExpirations(host)
            try state.endEnrollmentUnless(fingers, user: user, host: host)
            if let reason = state.conditions(host).biometry.refusal(now: host.clock.boot) { throw Refusal(reason) }
            guard let enrollment = state.keybag?.enrollment else { throw Refusal(.biometryNotEnrolled) }
            return Evidence.Finger(at: host.clock.boot, enrollment: enrollment.generation)
        }
    }

    /// Ends the enrollment unless the reader's list of fingers is the enrolled one.
    package func verifyEnrolledFingers(_ fingers: [UInt8]) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host, isUse: false)
            try state.endEnrollmentUnless(fingers, user: user, host: host)
        }
    }

    /// Unlocks: opens the class-A keys with the key that the reader held.
    package func unlock(by finger: Evidence.Finger, _ held: borrowing SecretBytes) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host)
            guard let suspended = state.suspended, suspended.connection == host.reader.connection,
                case .locked(let device, let firstUnlock)? = state.ring,
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
            state.setKeyRing(.unlocked(device: device, firstUnlock: firstUnlock, unlocked: keys), cause: .fingerMatched, host: host)
            state.unlockingFinger = finger
        }
    }

    /// Enrolls fingerprints. `passcodeKey` is the key of the passcode that authorized it, in `epoch`; a lock since then voids that.
    package func enroll(
        fingers: [UInt8], unlocks: Bool, passcodeKey: borrowing SecretBytes, since epoch: Int64? = nil
    ) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host)
            try state.checkUnchanged(since: epoch)
            let (bag, _) = try state.createIfNeeded(host)
            try bag.checkPasscodeUnchanged(since: passcodeKey)
            guard fingers.contains(where: { $0 != 0 }) else { throw Refusal(.biometryNotEnrolled, "the reader enrolled no finger") }
            try state.replaceKeybag(try bag.enrolling(fingers, unlocks: unlocks, passcodeKey), host)
            // These keys belong to an earlier enrollment. Whether the new one may unlock is its own setting.
            state.suspended = nil
            try state.arm(passcodeKey, host)
        }
    }

    /// Ends the enrollment. `passcodeKey` is the key of the passcode that authorized it, in `epoch`; a lock since then voids that.
    package func endEnrollment(passcodeKey: borrowing SecretBytes, since epoch: Int64? = nil) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host)
            try state.checkUnchanged(since: epoch)
            try state.createIfNeeded(host).0.checkPasscodeUnchanged(since: passcodeKey)
            try state.endEnrollment(user: user, host: host)
        }
    }
}

extension VaultState {
    /// Destroys the enrollment's keys on disk first. If that fails, fingerprints are refused until the write succeeds.
    fileprivate mutating func endEnrollment(user: UInt32, host: EnclaveHost) throws(Refusal) {
        disarm()
        guard var bag = keybag, bag.enrollment != nil else { return }
        bag.endEnrollment()
        try replaceKeybag(bag, host)
    }

    fileprivate mutating func endEnrollmentUnless(_ fingers: [UInt8], user: UInt32, host: EnclaveHost) throws(Refusal) {
        guard let enrollment = keybag?.enrollment, enrollment.fingers != fingers else { return }
        warnings.removeAll { $0 == Self.fingersChanged }
        warnings.append(Self.fingersChanged)
        try endEnrollment(user: user, host: host)
    }

    private static let fingersChanged =
        "the list of enrolled fingers was changed without Vauban; fingers are not accepted until you enroll again with the passcode"
}
