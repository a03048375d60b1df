// The content of a signature of an executable (Specs/code-signing.md).

internal import VaubanAccessPolicy
package import VaubanDER

/// `CodeDescription ::= SEQUENCE { version INTEGER (1), identifier UTF8String (SIZE (1..128)), size INTEGER,
///   digest OCTET STRING (SIZE (32)), signed INTEGER, expires [0] INTEGER OPTIONAL,
///   entitlements [1] OCTET STRING (SIZE (1..8192)) OPTIONAL }`
package struct CodeDescription: Hashable, Sendable {
    package static let entitlementsBytesMax = 8192
    /// The permitted dates, until the end of year 9999.
    private static let dates: ClosedRange<Int64> = 0...253_402_300_799

    /// The developer's name for the program, in the form of a bundle identifier.
    package let identifier: String
    /// The length of the content in bytes: the file without its signature area.
    package let size: Int64
    /// SHA-256 of the content.
    package let digest: [UInt8]
    /// When it was signed, in seconds since 1970-01-01 in UTC.
    package let signed: Int64
    /// The time at which the signature expires; nil if it never does.
    package let expires: Int64?
    /// A property list with Apple's keys, in XML; nil if there is none.
    package let entitlements: [UInt8]?

    /// Throws `DERError` for values that cannot be encoded.
    package init(
        identifier: String, size: Int64, digest: [UInt8], signed: Int64, expires: Int64? = nil, entitlements: [UInt8]? = nil
    ) throws {
        guard ApplicationIdentifier.isProgramIdentifier(identifier) else { throw DERError("identifier is malformed") }
        guard size >= 0, digest.count == 32, Self.dates.contains(signed), expires.map(Self.dates.contains) ?? true,
            entitlements.map({ (1...Self.entitlementsBytesMax).contains($0.count) }) ?? true
        else { throw DERError("a value is out of range") }
        guard entitlements.map(CodeEntitlements.isXML) ?? true else { throw DERError("entitlements are malformed") }
        self.identifier = identifier
        self.size = size
        self.digest = digest
        self.signed = signed
        self.expires = expires
        self.entitlements = entitlements
    }

    /// Returns whether the signature has expired at a time, in seconds since 1970-01-01 in UTC.
    package func isExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }
}

extension CodeDescription: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        try self.init(
            identifier: try fields.text("identifier", max: ApplicationIdentifier.programIdentifierBytesMax),
            size: try fields.integer("size", in: 0...Int64.max), digest: try fields.octets("digest", in: 32...32),
            signed: try fields.integer("signed", in: Self.dates), expires: try fields.optionalInteger(0, "expires", in: Self.dates),
            entitlements: try fields.optionalOctets(1, "entitlements", in: 1...Self.entitlementsBytesMax))
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.text(identifier)
            try fields.integer(size)
            try fields.octets(digest)
            try fields.integer(signed)
            try fields.optionalInteger(0, expires)
            try fields.optionalOctets(1, entitlements)
        }
    }
}
