package import SwiftASN1
package import VaubanDER

/// The failed tries of one person. It is written, durably, before a guess is compared, so that nothing gives a guess
/// back (invariant 4).
///
/// `AttemptRecord ::= SEQUENCE { version INTEGER (1), keybag OCTET STRING (SIZE (16)), failures INTEGER }`
package struct AttemptRecord: Hashable, Sendable, DERReadable, DERWritable {
    package let keybag: [UInt8]
    package var failures: Int64

    package init(keybag: [UInt8], failures: Int64 = 0) {
        self.keybag = keybag
        self.failures = failures
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        keybag = try fields.octets("keybag", in: 16...16)
        failures = try fields.integer("failures", in: 0...1_000_000)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.octets(keybag)
            try fields.integer(failures)
        }
    }
}
