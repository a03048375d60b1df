package import SwiftASN1
package import VaubanAccessPolicy
package import VaubanDER

/// What a user may know about their device: no key, no item.
package struct DeviceStatus: Hashable, Sendable {
    /// Why the lock is as it is.
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

    /// What fingers are worth now.
    package struct Biometry: Hashable, Sendable {
        package var readerIsThere: Bool
        package var isEnrolled: Bool
        /// Enrolled, armed by a passcode, and not used up.
        package var isReady: Bool
        /// A matched finger unlocks after the first unlock.
        package var unlocks: Bool
        /// Fingers that may still fail before the passcode is needed.
        package var missesLeft: Int64

        package static let none = Biometry(readerIsThere: false, isEnrolled: false, isReady: false, unlocks: false, missesLeft: 0)

        package init(readerIsThere: Bool, isEnrolled: Bool, isReady: Bool, unlocks: Bool, missesLeft: Int64) {
            self.readerIsThere = readerIsThere
            self.isEnrolled = isEnrolled
            self.isReady = isReady
            self.unlocks = unlocks
            self.missesLeft = missesLeft
        }
    }

    package var lock: LockState
    package var cause: Cause
    /// When it became so: microseconds since the reference date.
    package var since: Int64
    package var passcodeIsSet: Bool
    /// Tries before the next delay, and seconds until a try is allowed.
    package var triesLeft: Int64
    package var secondsToWait: Int64
    /// State that could not be read and was put aside, protections that are missing: sentences for the user.
    package var warnings: [String]
    /// The newest wrong guesses since the last right one, newest first.
    package var wrongGuesses: [WrongGuess] = []
    package var recoveryKeyIsSet = false
    /// When a recovery key was used the last time.
    package var recovered: Int64?
    package var settings = LockSettings.standard
    package var biometry = Biometry.none
    /// Older keys are still in use: items wait to be wrapped by the newest.
    package var hasOlderKeys = false
    /// A login manager says when the machine is about to sleep; otherwise that is noticed at the next use.
    package var sleepIsAnnounced = false

    package init(
        lock: LockState, cause: Cause, since: Int64, passcodeIsSet: Bool, triesLeft: Int64, secondsToWait: Int64, warnings: [String]
    ) {
        self.lock = lock
        self.cause = cause
        self.since = since
        self.passcodeIsSet = passcodeIsSet
        self.triesLeft = triesLeft
        self.secondsToWait = secondsToWait
        self.warnings = warnings
    }
}

/// `DeviceStatus ::= SEQUENCE { lock INTEGER, cause INTEGER, since INTEGER, passcodeIsSet BOOLEAN, triesLeft INTEGER,
///   secondsToWait INTEGER, warnings SEQUENCE OF SEQUENCE { UTF8String }, wrongGuesses SEQUENCE OF WrongGuess,
///   recoveryKeyIsSet BOOLEAN, settings LockSettings, biometry Biometry, hasOlderKeys BOOLEAN,
///   sleepIsAnnounced BOOLEAN, recovered [0] INTEGER OPTIONAL }`
extension DeviceStatus: DERReadable, DERWritable {
    package static let wrongGuessesMax = 10

    package init(from fields: inout DERFields) throws {
        guard let lock = LockState(rawValue: try fields.integer("lock", in: 0...3)),
            let cause = Cause(rawValue: try fields.integer("cause", in: 0...255))
        else { throw DERError("lock state is unknown") }
        self.init(
            lock: lock, cause: cause, since: try fields.integer("since", in: Int64.min...Int64.max),
            passcodeIsSet: try fields.boolean("passcode is set"), triesLeft: try fields.integer("tries left", in: 0...100),
            secondsToWait: try fields.integer("seconds to wait", in: 0...1_000_000),
            warnings: try fields.list("warnings", max: 32, of: Sentence.self).map(\.text))
        wrongGuesses = try fields.list("wrong guesses", max: Self.wrongGuessesMax)
        recoveryKeyIsSet = try fields.boolean("recovery key is set")
        settings = try fields.value("settings")
        biometry = try fields.value("biometry")
        hasOlderKeys = try fields.boolean("has older keys")
        sleepIsAnnounced = try fields.boolean("sleep is announced")
        recovered = try fields.optionalInteger(0, "recovered", in: Int64.min...Int64.max)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(lock.rawValue)
            try fields.integer(cause.rawValue)
            try fields.integer(since)
            try fields.boolean(passcodeIsSet)
            try fields.integer(triesLeft)
            try fields.integer(secondsToWait)
            try fields.list(warnings.prefix(32).map(Sentence.init))
            try fields.list(Array(wrongGuesses.prefix(Self.wrongGuessesMax)))
            try fields.boolean(recoveryKeyIsSet)
            try fields.value(settings)
            try fields.value(biometry)
            try fields.boolean(hasOlderKeys)
            try fields.boolean(sleepIsAnnounced)
            try fields.optionalInteger(0, recovered)
        }
    }
}

/// `Biometry ::= SEQUENCE { readerIsThere BOOLEAN, isEnrolled BOOLEAN, isReady BOOLEAN, unlocks BOOLEAN, missesLeft INTEGER }`
extension DeviceStatus.Biometry: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        self.init(
            readerIsThere: try fields.boolean("reader is there"), isEnrolled: try fields.boolean("is enrolled"),
            isReady: try fields.boolean("is ready"), unlocks: try fields.boolean("unlocks"),
            missesLeft: try fields.integer("misses left", in: 0...100))
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.boolean(readerIsThere)
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

    /// As many whole characters as fit: a path in it may be long.
    package init(_ text: String) {
        var bounded = text
        while bounded.utf8.count > Self.bytesMax { bounded.removeLast() }
        self.text = bounded
    }

    package init(from fields: inout DERFields) throws { text = try fields.text("sentence", max: Self.bytesMax) }
    package func write(into der: inout DER.Serializer) throws { try der.sequence { try $0.text(text) } }
}
