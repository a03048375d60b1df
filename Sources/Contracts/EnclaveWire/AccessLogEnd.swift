package import VaubanDER

/// The last record of an access log: its number, and the hash that stands for it and all before it (Specs/access-log.md).
///
/// `AccessLogEnd ::= SEQUENCE { number INTEGER (0..281474976710656), chain OCTET STRING (SIZE (32)) }`
package struct AccessLogEnd: Hashable, Sendable, DERReadable, DERWritable {
    package static let chainBytes = 32
    /// More records than any log can have.
    package static let numberMax: Int64 = 1 << 48
    /// The start of a log without records.
    package static let empty = AccessLogEnd(number: 0, chain: [UInt8](repeating: 0, count: chainBytes))

    package let number: Int64
    package let chain: [UInt8]

    package init(number: Int64, chain: [UInt8]) {
        self.number = number
        self.chain = chain
    }

    /// Whether the log begins after this: it has no record yet, or those up to this number were erased with their keychain.
    package var isStart: Bool { chain.allSatisfy { $0 == 0 } }

    /// Returns what to hash with SHA-256 for the chain after one more record.
    package func hashInput(adding link: AccessLogLink) -> [UInt8] {
        chain + Self.bytes(of: link.number) + Self.bytes(of: link.series) + link.digest
    }

    /// Returns the eight bytes of a number, most significant first.
    package static func bytes(of number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    package init(from fields: inout DERFields) throws {
        number = try fields.integer("number", in: 0...Self.numberMax)
        chain = try fields.octets("chain", in: Self.chainBytes...Self.chainBytes)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(number)
            try fields.octets(chain)
        }
    }
}

/// The enclave's state of an access log: its end, and the number after which it begins (Specs/access-log.md).
package struct AccessLogAnchor: Hashable, Sendable {
    package let end: AccessLogEnd
    /// The number of the last log record that was erased, 0 if none was; nil if that is unknown.
    package let began: Int64?

    package init(end: AccessLogEnd, began: Int64?) {
        self.end = end
        self.began = began
    }
}

/// The part of a record that enters the chain: its number, that of the first record of its series, and SHA-256 of the sealed record.
///
/// `AccessLogLink ::= SEQUENCE { number INTEGER (1..281474976710656), series INTEGER (1..281474976710656), digest OCTET STRING (SIZE (32))
/// }`
package struct AccessLogLink: Hashable, Sendable, DERReadable, DERWritable {
    /// The most links in one request.
    package static let countMax = 500

    package let number: Int64
    package let series: Int64
    package let digest: [UInt8]

    package init(number: Int64, series: Int64, digest: [UInt8]) {
        self.number = number
        self.series = series
        self.digest = digest
    }

    package init(from fields: inout DERFields) throws {
        number = try fields.integer("number", in: 1...AccessLogEnd.numberMax)
        series = try fields.integer("series", in: 1...AccessLogEnd.numberMax)
        digest = try fields.octets("digest", in: 32...32)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(number)
            try fields.integer(series)
            try fields.octets(digest)
        }
    }
}
