import Enclave
import VaubanAccessPolicy
import VaubanRefusal
import VaubanUserModel

// The passcode in the model: counted, then compared; set, changed, removed.

extension EnclaveModel {
    /// Returns the seconds of delay after this many failures in a row, as section 6 of the key hierarchy lists them.
    static func delay(after failures: Int64) -> Int64 {
        switch failures {
        case ...4: 0
        case 5: 60
        case 6: 300
        case 7: 900
        case 8: 1800
        default: 3600
        }
    }

    mutating func authenticate(_ passcode: Passcode, _ tape: inout Tape) throws {
        try applyExpirations(&tape)
        try throwIfUnreadable()
        guard let bag, bag.passcode != nil, var counted = record else { throw Refused(.passcodeNotSet) }
        guard wait == 0 else { throw Refused(.lockedOut, attemptsLeft: 0, secondsToWait: wait) }
        counted.failures += 1
        let end = try tape.write(counted)
        if end == .durable || end == .unsure { record = counted }
        try throwIfNotDurable(end)
        try tape.compare()
        guard bag.passcode == passcode else {
            // An attempt that was not compared causes no delay before a restart.
            wait = Self.delay(after: counted.failures)
            throw Refused(.authenticationFailed, attemptsLeft: max(0, 5 - counted.failures), secondsToWait: wait)
        }
        try clearAttempts(&tape)
        arm()
        loadResealingKeys()
    }

    /// Notes the locks until the passcode arrives, which first applies what has expired.
    private mutating func countLocks(_ tape: inout Tape) throws { try applyExpirations(&tape, isUse: false) }

    /// Begins the limited time in which items move from an earlier passcode's pairs to the current ones.
    mutating func loadResealingKeys() {
        resealing = lock == .unlocked && bag?.hasOlderClassKeys == true && bag?.olderPairs.isEmpty == false ? 0 : nil
    }

    /// Resets the count of attempts. If that cannot be written, the old count stays on disk: stricter after a restart, never more lenient.
    mutating func clearAttempts(_ tape: inout Tape) throws {
        guard let bag else { return }
        let cleared = Record(identity: bag.identity)
        if record != cleared { _ = try tape.write(cleared) }
        record = cleared
        wait = 0
    }

    /// Records the program that brought a wrong passcode.
    mutating func note(_ tape: inout Tape) throws {
        guard var noted = record, noted.failures > 0 else { return }
        noted.guesses = min(noted.guesses + 1, DeviceStatus.failedAttemptsMax)
        record = noted
        _ = try tape.write(noted)
    }

    mutating func unlock(_ passcode: Passcode, _ tape: inout Tape) throws {
        try countLocks(&tape)
        try authenticate(passcode, &tape)
        open(.passcodeEntered)
    }

    mutating func open(_ cause: DeviceStatus.Cause) {
        isSuspended = false
        setKeyRing(.unlocked, cause)
        loadResealingKeys()
    }

    mutating func lockNow(_ tape: inout Tape) throws {
        try applyExpirations(&tape)
        guard try created(&tape).passcode != nil else { throw Refused(.passcodeNotSet) }
        close(.lockRequested)
    }

    mutating func set(_ passcode: Passcode, recovery: Int?, _ tape: inout Tape) throws {
        try applyExpirations(&tape)
        let old = try created(&tape)
        guard old.passcode == nil else { throw Refused(.passcodeAlreadySet) }
        try tape.tangle()
        var new = old
        new.passcode = passcode
        new.recovery = recovery
        new.recovered = nil
        // Beyond sixteen generations the passcode wraps the newest pairs again.
        let renewsPairs = KeyPurpose.factors.allSatisfy { factor in old.slots.count { $0.purpose == factor } < 16 }
        guard old.slots.count + KeyPurpose.classes.count + (renewsPairs ? KeyPurpose.factors.count : 0) < EnclaveLimits.slotsMax else {
            throw Refused(.unsupported)
        }
        new.slots = []
        for purpose in KeyPurpose.classes { new.slots.append(make(purpose)) }
        if renewsPairs { for purpose in KeyPurpose.factors { new.slots.append(make(purpose)) } }
        new.slots += old.slots
        try throwIfNotDurable(try tape.write(Record(identity: old.identity)))
        try replace(new, &tape)
        record = Record(identity: old.identity)
        wait = 0
        setKeyRing(.unlocked, .passcodeSet)
        end(everything: true)
        loadResealingKeys()
    }

    mutating func change(from old: Passcode, to passcode: Passcode, rolls: Bool, _ tape: inout Tape) throws {
        try authenticate(old, &tape)
        var new = try created(&tape)
        try tape.tangle()
        new.passcode = passcode
        new.recovered = nil
        if rolls {
            guard new.slots.count + KeyPurpose.classes.count < EnclaveLimits.slotsMax else { throw Refused(.unsupported) }
            let held = new
            new.slots = KeyPurpose.classes.filter { held.current($0) != nil }.map { make($0) } + held.slots
        }
        try replace(new, &tape)
        guard rolls else { return }
        isSuspended = false
        end(everything: true)
        loadResealingKeys()
    }

    mutating func remove(_ passcode: Passcode, _ tape: inout Tape) throws {
        try countLocks(&tape)
        try authenticate(passcode, &tape)
        var new = try created(&tape)
        new.destroy { $0.purpose.isPasscodeClass }
        new.endEnrollment()
        (new.passcode, new.recovery, new.earlierRecovery, new.recovered) = (nil, nil, nil, nil)
        try replace(new, &tape)
        disarm()
        try clearAttempts(&tape)
        setKeyRing(.unlocked, .passcodeRemoved)
        end(everything: true)
    }
}
