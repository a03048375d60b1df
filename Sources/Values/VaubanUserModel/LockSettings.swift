package import VaubanDER

/// When a user's keychain locks automatically, and where other programs may prompt.
///
/// `LockSettings ::= SEQUENCE { graceSeconds INTEGER, idleSeconds INTEGER, locksWithScreen BOOLEAN, allowsTerminalPrompts [0] BOOLEAN
/// OPTIONAL }`, the last present only if it is true.
package struct LockSettings: Hashable, Sendable, DERReadable, DERWritable {
    /// Seconds between the screen lock or sleep and the erasure of keys. 0: at once.
    package var graceSeconds: Int64
    /// Seconds without use after which the keychain locks. 0: never.
    package var idleSeconds: Int64
    /// Whether the screen lock locks the keychain too.
    package var locksWithScreen: Bool
    /// Whether programs other than Vauban's own may prompt on their own terminal, where they can read what is typed.
    package var allowsTerminalPrompts = false

    package static let graceSecondsMax: Int64 = 3600
    package static let idleSecondsMax: Int64 = 30 * 24 * 3600

    /// Ignores the screen lock, since unlocking the screen does not unlock the keychain by default.
    package static let standard = LockSettings(graceSeconds: 0, idleSeconds: 0, locksWithScreen: false)

    package init(graceSeconds: Int64, idleSeconds: Int64, locksWithScreen: Bool) {
        self.graceSeconds = graceSeconds
        self.idleSeconds = idleSeconds
        self.locksWithScreen = locksWithScreen
    }

    package init(from fields: inout DERFields) throws {
        graceSeconds = try fields.integer("grace", in: 0...Self.graceSecondsMax)
        idleSeconds = try fields.integer("idle time", in: 0...Self.idleSecondsMax)
        locksWithScreen = try fields.boolean("locks with the screen")
        if let allows = try fields.optional(0, "terminal prompts", read: { try $0.boolean("terminal prompts") }) {
            // False is encoded as absence, so that there is one encoding.
            guard allows else { throw DERError("terminal prompts are encoded as false") }
            allowsTerminalPrompts = true
        }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(graceSeconds)
            try fields.integer(idleSeconds)
            try fields.boolean(locksWithScreen)
            if allowsTerminalPrompts { try fields.tagged(0) { try $0.boolean(true) } }
        }
    }
}

/// A failed passcode attempt: its time, its purpose, and the program, as the system identified it.
package struct FailedAttempt: Hashable, Sendable, DERReadable, DERWritable {
    private static let whoBytesMax = 256
    /// Microseconds since the reference date.
    package let date: Int64
    package let purpose: PasscodePurpose
    package let who: String

    package init(date: Int64, purpose: PasscodePurpose, who: String) {
        self.date = date
        self.purpose = purpose
        var bounded = who
        while bounded.utf8.count > Self.whoBytesMax { bounded.removeLast() }
        self.who = bounded
    }

    package init(from fields: inout DERFields) throws {
        date = try fields.integer("date", in: Int64.min...Int64.max)
        guard let purpose = PasscodePurpose(rawValue: try fields.integer("purpose", in: 1...255)) else {
            throw DERError("purpose is unknown")
        }
        self.purpose = purpose
        who = try fields.text("who", max: Self.whoBytesMax)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(date)
            try fields.integer(purpose.rawValue)
            try fields.text(who)
        }
    }
}
