package import VaubanAccessPolicy
package import VaubanDER

/// The state of a device, as its user may see it: no key and no item.
package struct DeviceStatus: Hashable, Sendable {
    /// Why the keychain is in its lock state.
    package enum Cause: Int64, Sendable {
        case started = 0
        case passcodeEntered = 1
        case lockRequested = 2
        case passcodeSet = 3
        case slept = 4
        case screenLocked = 5
        case idle = 6
        case fingerMatched = 7
        case passcodeRemoved = 8
        case recovered = 9
        case erased = 10
    }

    /// The state of fingerprints.
    package struct Biometry: Hashable, Sendable {
        package var readerIsPresent: Bool
        package var isEnrolled: Bool
        /// Enrolled, armed by a passcode, and not locked out.
        package var isReady: Bool
        /// Whether a fingerprint unlocks after the first unlock.
        package var unlocks: Bool
        /// Misses left before the passcode is required.
        package var missesLeft: Int64

        package static let none = Biometry(readerIsPresent: false, isEnrolled: false, isReady: false, unlocks: false, missesLeft: 0)

        package init(readerIsPresent: Bool, isEnrolled: Bool, isReady: Bool, unlocks: Bool, missesLeft: Int64) {
            self.readerIsPresent = readerIsPresent
            self.isEnrolled = isEnrolled
            self.isReady = isReady
            self.unlocks = unlocks
            self.missesLeft = missesLeft
        }
    }

    package var lock: LockState
    package var cause: Cause
    /// When the state changed: microseconds since the reference date.
    package var since: Int64
    package var passcodeIsSet: Bool
    /// Passcode attempts left before the next delay, and seconds until an attempt is allowed.
    package var attemptsLeft: Int64
    package var secondsToWait: Int64
    /// Warnings for the user: state that was set aside because it cannot be read, and missing protections.
    package var warnings: [String]
    /// The latest failed attempts since the last correct passcode, newest first.
    package var failedAttempts: [FailedAttempt] = []
    package var recoveryKeyIsSet = false
    /// Whether the previous recovery key is still valid, since the newest one has not been confirmed.
    package var earlierRecoveryKeyWorks = false
    /// When a recovery key was last used.
    package var recovered: Int64?
    package var settings = LockSettings.standard
    package var biometry = Biometry.none
    /// Whether older keys are in use, since items wait to be rewrapped.
    package var hasOlderKeys = false
    /// Whether a login manager announces sleep; otherwise sleep is detected at the next use.
    package var sleepIsAnnounced = false

    package init(
        lock: LockState, cause: Cause, since: Int64, passcodeIsSet: Bool, attemptsLeft: Int64, secondsToWait: Int64, warnings: [String]
    ) {
        self.lock = lock
        self.cause = cause
        self.since = since
        self.passcodeIsSet = passcodeIsSet
        self.attemptsLeft = attemptsLeft
        self.secondsToWait = secondsToWait
        self.warnings = warnings
    }
}

/// `DeviceStatus ::= SEQUENCE { lock INTEGER, cause INTEGER, since INTEGER, passcodeIsSet BOOLEAN, attemptsLeft INTEGER,
///   secondsToWait INTEGER, warnings SEQUENCE OF SEQUENCE { UTF8String }, failedAttempts SEQUENCE OF FailedAttempt,
///   recoveryKeyIsSet BOOLEAN, settings LockSettings, biometry Biometry, hasOlderKeys BOOLEAN,
///   sleepIsAnnounced BOOLEAN, recovered [0] INTEGER OPTIONAL, earlierRecoveryKeyWorks [1] SEQUENCE {} OPTIONAL }`
extension DeviceStatus: DERReadable, DERWritable {
    package static let failedAttemptsMax = 10

    package init(from fields: inout DERFields) throws {
        guard let lock = LockState(rawValue: try fields.integer("lock", in: 0...3)),
            let cause = Cause(rawValue: try fields.integer("cause", in: 0...255))
        else { throw DERError("lock state is unknown") }
        self.init(
            lock: lock, cause: cause, since: try fields.integer("since", in: Int64.min...Int64.max),
            passcodeIsSet: try fields.boolean("passcode is set"), attemptsLeft: try fields.integer("attempts left", in: 0...100),
            secondsToWait: try fields.integer("seconds to wait", in: 0...1_000_000),
            warnings: try fields.list("warnings", max: 32, of: Sentence.self).map(\.text))
        failedAttempts = try fields.list("wrong guesses", max: Self.failedAttemptsMax)
        recoveryKeyIsSet = try fields.boolean("recovery key is set")
        settings = try fields.value("settings")
        biometry = try fields.value("biometry")
        hasOlderKeys = try fields.boolean("has older keys")
        sleepIsAnnounced = try fields.boolean("sleep is announced")
        recovered = try fields.optionalInteger(0, "recovered", in: Int64.min...Int64.max)
        earlierRecoveryKeyWorks = try fields.optional(1, "earlier recovery key works") { _ in true } ?? false
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(lock.rawValue)
            try fields.integer(cause.rawValue)
            try fields.integer(since)
            try fields.boolean(passcodeIsSet)
            try fields.integer(attemptsLeft)
            try fields.integer(secondsToWait)
            try fields.list(warnings.prefix(32).map(Sentence.init))
            try fields.list(Array(failedAttempts.prefix(Self.failedAttemptsMax)))
            try fields.boolean(recoveryKeyIsSet)
            try fields.value(settings)
            try fields.value(biometry)
            try fields.boolean(hasOlderKeys)
            try fields.boolean(sleepIsAnnounced)
            try fields.optionalInteger(0, recovered)
            if earlierRecoveryKeyWorks { fields.tagged(1) { _ in } }
        }
    }
}

/// `Biometry ::= SEQUENCE { readerIsPresent BOOLEAN, isEnrolled BOOLEAN, isReady BOOLEAN, unlocks BOOLEAN, missesLeft INTEGER }`
extension DeviceStatus.Biometry: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        self.init(
            readerIsPresent: try fields.boolean("reader is there"), isEnrolled: try fields.boolean("is enrolled"),
            isReady: try fields.boolean("is ready"), unlocks: try fields.boolean("unlocks"),
            missesLeft: try fields.integer("misses left", in: 0...100))
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.boolean(readerIsPresent)
            try fields.boolean(isEnrolled)
            try fields.boolean(isReady)
            try fields.boolean(unlocks)
            try fields.integer(missesLeft)
        }
    }
}

/// `Sentence ::= SEQUENCE { text UTF8String }`
package struct Sentence: DERReadable, DERWritable, Sendable {
    package let text: String
    private static let bytesMax = 512

    /// Truncates the text to as many whole characters as fit, since a path in the sentence may be long.
    package init(_ text: String) {
        var bounded = text
        while bounded.utf8.count > Self.bytesMax { bounded.removeLast() }
        self.text = bounded
    }

    package init(from fields: inout DERFields) throws { text = try fields.text("sentence", max: Self.bytesMax) }
    package func write(into der: inout DERWriter) throws { try der.sequence { try $0.text(text) } }
}
