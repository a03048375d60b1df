package import VaubanDER
package import VaubanUserModel

/// The failed passcode attempts of one user. The enclave writes the record durably before it compares a passcode, so no attempt can be
/// undone (invariant 4).
///
/// `AttemptRecord ::= SEQUENCE { version INTEGER (2), keybag OCTET STRING (SIZE (16)), failures INTEGER,
///   guesses SEQUENCE (SIZE (0..10)) OF FailedAttempt }`. Version 1 has no `guesses`; it is still read.
package struct AttemptRecord: Hashable, Sendable, DERReadable, DERWritable {
    static let failuresMax: Int64 = 1_000_000
    package let keybag: [UInt8]
    package var failures: Int64
    /// Details of the failed attempts, newest first. They may be incomplete: only the count in `failures` decides anything.
    package var guesses: [FailedAttempt] = []

    package init(keybag: [UInt8], failures: Int64 = 0) {
        self.keybag = keybag
        self.failures = failures
    }

    package init(from fields: inout DERFields) throws {
        let version = try fields.version(1...2)
        keybag = try fields.octets("keybag", in: 16...16)
        failures = try fields.integer("failures", in: 0...Self.failuresMax)
        if version > 1 { guesses = try fields.list("guesses", max: DeviceStatus.failedAttemptsMax) }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(2)
            try fields.octets(keybag)
            try fields.integer(failures)
            try fields.list(guesses)
        }
    }
}
