import Enclave
import VaubanAccessPolicy
import VaubanRefusal
import VaubanUserModel

// In the model: what removes a passcode or replaces it, and fingerprints.

extension EnclaveModel {
    /// Erases the keychain. `passcode` is nil if it is unknown.
    mutating func erase(_ passcode: Passcode?, _ tape: inout Tape) throws {
        if let passcode { try authenticate(passcode, &tape) }
        try applyExpirations(&tape)
        let old = try created(&tape)
        guard passcode != nil || old.passcode == nil || record?.failures ?? 0 >= 10 else { throw Refused(.authenticationFailed) }
        var new = makeBag()
        new.destroyed = Array((old.slots + old.destroyed).prefix(EnclaveLimits.destroyedMax))
        try replace(new, &tape)
        disarm()
        try clearAttempts(&tape)
        setKeyRing(.unlocked, .erased)
        end(everything: true)
        // The model makes no log records, so none have to begin again.
        if try tape.read(.accessLog) { _ = try tape.list() }
    }

    mutating func recover(with key: Int, to passcode: Passcode, next: Int?, _ tape: inout Tape) throws {
        try applyExpirations(&tape)
        var new = try created(&tape)
        guard new.passcode != nil, let recovery = new.recovery else { throw Refused(.recoveryKeyNotSet) }
        guard recovery == key || new.earlierRecovery == key else { throw Refused(.authenticationFailed) }
        try tape.tangle()
        new.passcode = passcode
        (new.recovery, new.earlierRecovery) = (next, nil)
        new.recovered = wall
        try replace(new, &tape)
        try clearAttempts(&tape)
        arm()
        open(.recovered)
    }

    mutating func setRecovery(_ key: Int?, passcode: Passcode, tape: inout Tape) throws {
        try authenticate(passcode, &tape)
        try applyExpirations(&tape)
        var new = try created(&tape)
        guard key != nil || new.recovery != nil else { return }
        new.earlierRecovery = key == nil ? nil : new.earlierRecovery ?? new.recovery
        new.recovery = key
        try replace(new, &tape)
    }

    mutating func confirmRecovery(_ key: Int, _ tape: inout Tape) throws {
        try applyExpirations(&tape)
        var new = try created(&tape)
        guard new.passcode != nil, let recovery = new.recovery else { throw Refused(.recoveryKeyNotSet) }
        guard recovery == key else { throw Refused(.authenticationFailed) }
        guard new.earlierRecovery != nil else { return }
        new.earlierRecovery = nil
        try replace(new, &tape)
    }

    mutating func configure(_ settings: LockSettings, passcode: Passcode, tape: inout Tape) throws {
        try authenticate(passcode, &tape)
        try applyExpirations(&tape)
        var new = try created(&tape)
        guard new.settings != settings else { return }
        new.settings = settings
        try replace(new, &tape)
    }

    /// Retires class keys that no row needs.
    mutating func retire(_ names: [Name], _ tape: inout Tape) throws {
        try applyExpirations(&tape)
        var new = try created(&tape)
        let held = new.slots
        new.destroy { names.contains($0) }
        if !new.hasOlderClassKeys {
            let older = new.olderPairs
            new.slots.removeAll { older.contains($0) }
        }
        if new.slots != held { try replace(new, &tape) }
        if !new.hasOlderClassKeys { resealing = nil }
    }

    // MARK: Fingers

    /// Why no fingerprint counts now.
    var fingerRefusal: Refusal.Reason? {
        guard bag?.enrollment != nil else { return readerIsPresent ? .biometryNotEnrolled : .biometryNotAvailable }
        guard let armed, misses < 5, armed <= Self.armedFor else { return .biometryLockedOut }
        return readerIsPresent ? nil : .biometryNotAvailable
    }

    mutating func arm() {
        guard bag?.enrollment != nil else { return disarm() }
        armed = 0
        misses = 0
    }

    mutating func disarm() {
        armed = nil
        isSuspended = false
    }

    mutating func enroll(_ fingers: Int, passcode: Passcode, tape: inout Tape) throws {
        try authenticate(passcode, &tape)
        guard readerIsPresent else { throw Refused(.biometryNotAvailable) }
        try applyExpirations(&tape)
        var new = try created(&tape)
        new.endEnrollment()
        let pair = make(.enrollmentFactor)
        new.slots.append(pair)
        new.enrollment = Bag.Enrollment(pair: pair, fingers: fingers)
        try replace(new, &tape)
        arm()
    }

    mutating func forget(_ passcode: Passcode, _ tape: inout Tape) throws {
        try authenticate(passcode, &tape)
        try applyExpirations(&tape)
        try endEnrollment(&tape)
    }

    private mutating func endEnrollment(_ tape: inout Tape) throws {
        disarm()
        guard var new = bag, new.enrollment != nil else { return }
        new.endEnrollment()
        try replace(new, &tape)
    }

    mutating func match(_ fingers: Int, _ tape: inout Tape) throws {
        try applyExpirations(&tape)
        if let enrollment = bag?.enrollment, enrollment.fingers != fingers {
            warnings = 1
            try endEnrollment(&tape)
        }
        if let reason = fingerRefusal { throw Refused(reason) }
    }

    mutating func miss(_ tape: inout Tape) throws {
        try applyExpirations(&tape)
        misses += 1
        if misses >= 5 { disarm() }
    }

    mutating func unlockByFinger(_ fingers: Int, _ tape: inout Tape) throws {
        try applyExpirations(&tape, isUse: false)
        if lock == .unlocked { return }
        try applyExpirations(&tape, isUse: false)
        guard isSuspended, fingerRefusal == nil else {
            try applyExpirations(&tape, isUse: false)
            throw Refused(fingerRefusal ?? .biometryLockedOut)
        }
        try match(fingers, &tape)
        try applyExpirations(&tape)
        open(.fingerMatched)
    }

    // MARK: The machine

    mutating func machineSleeps(_ tape: inout Tape) throws {
        try applyExpirations(&tape, isUse: false)
        if bag?.settings.graceSeconds == 0 { close(.slept) }
    }

    mutating func screenLocks(_ tape: inout Tape) throws {
        try applyExpirations(&tape, isUse: false)
        guard let settings = bag?.settings, settings.locksWithScreen, lock == .unlocked else { return }
        if settings.graceSeconds == 0 { return close(.screenLocked) }
        due = Due(seconds: Int(settings.graceSeconds), cause: .screenLocked)
    }

    mutating func screenUnlocks(_ tape: inout Tape) throws {
        try applyExpirations(&tape, isUse: false)
        due = nil
    }
}
