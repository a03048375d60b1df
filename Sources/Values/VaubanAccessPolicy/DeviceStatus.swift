package import SwiftASN1
package import VaubanDER

/// What a person may know about their device: no key, no item.
package struct DeviceStatus: Hashable, Sendable {
    package enum Lock: Int64, Sendable {
        /// The enclave has started and no passcode came yet: classes A and C are closed.
        case beforeFirstUnlock = 0
        case locked = 1
        case unlocked = 2
        /// The stored state cannot be read; everything is refused, and a warning says why.
        case unreadable = 3
    }

    /// Why the lock is as it is.
    package enum Cause: Int64, Sendable {
        case started = 0
        case passcodeEntered = 1
        case lockRequested = 2
        case passcodeSet = 3
        /// The machine went to sleep.
        case slept = 4
        /// The person's screen was locked.
        case screenLocked = 5
    }

    package var lock: Lock
    package var cause: Cause
    /// When it became so: microseconds since the reference date.
    package var since: Int64
    package var passcodeIsSet: Bool
    /// Tries before the next delay, and seconds until a try is allowed.
    package var triesLeft: Int64
    package var secondsToWait: Int64
    /// State that could not be read and was put aside: sentences for the person.
    package var warnings: [String]

    package init(lock: Lock, cause: Cause, since: Int64, passcodeIsSet: Bool, triesLeft: Int64, secondsToWait: Int64, warnings: [String]) {
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
///   secondsToWait INTEGER, warnings SEQUENCE OF SEQUENCE { UTF8String } }`
extension DeviceStatus: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        guard let lock = Lock(rawValue: try fields.integer("lock", in: 0...3)),
            let cause = Cause(rawValue: try fields.integer("cause", in: 0...5))
        else { throw DERFault("lock state is unknown") }
        self.init(
            lock: lock, cause: cause, since: try fields.integer("since", in: Int64.min...Int64.max),
            passcodeIsSet: try fields.boolean("passcode is set"), triesLeft: try fields.integer("tries left", in: 0...100),
            secondsToWait: try fields.integer("seconds to wait", in: 0...1_000_000),
            warnings: try fields.list("warnings", max: 32, of: Sentence.self).map(\.text))
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
