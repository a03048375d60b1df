// Tokens with which a server joins a circle as a companion (Specs/sync.md, "Joining by a token").

package import VaubanDER
package import VaubanRefusal

/// The part of a token that is not secret. The other part is the seed of its key.
package struct JoinToken: Hashable, Sendable, DERReadable, DERWritable {
    package static let seedBytes = 32
    package static let verificationBytes = 32
    /// The permitted validity of a token, in seconds.
    package static let seconds: ClosedRange<Int64> = 60...7 * 24 * 3600
    /// The most open tokens of one device.
    package static let countMax = 4

    package let circle: [UInt8]
    /// The member that made the token, and the only one that admits a device by it. The new device accepts signatures of this member only.
    package let member: CircleMember
    /// The Ed25519 public key that verifies that a device has the token.
    package let verification: [UInt8]
    /// The name of the companion.
    package let name: String
    /// Microseconds since the reference date. For display only: the member's enclave uses its own record.
    package let expires: Int64

    package init(circle: [UInt8], member: CircleMember, verification: [UInt8], name: String, expires: Int64) {
        self.circle = circle
        self.member = member
        self.verification = verification
        self.name = name
        self.expires = expires
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        circle = try fields.octets("circle", in: 16...16)
        member = try fields.value("member")
        verification = try fields.octets("token", in: Self.verificationBytes...Self.verificationBytes)
        name = try fields.text("name", max: CircleRequest.nameBytesMax)
        expires = try fields.integer("expires", in: Int64.min...Int64.max)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.octets(circle)
            try fields.value(member)
            try fields.octets(verification)
            try fields.text(name)
            try fields.integer(expires)
        }
    }
}

extension JoinToken {
    /// Decodes a token from outside.
    ///
    /// - Throws: `unsupported` for a token of a later version, and `badParameter` for anything else that is not a token.
    package static func decoded(_ bytes: [UInt8]) throws(Refusal) -> JoinToken {
        do { return try JoinToken(derBytes: bytes) } catch { throw (error as? DERError)?.newerVersion == nil ? damaged : newer }
    }

    package static var damaged: Refusal { Refusal(.badParameter, "The token is damaged, or not complete; use another copy of it") }
    package static var newer: Refusal { Refusal(.unsupported, "The token was made by a later version of Vauban; update Vauban") }
}

/// An unused token, as known outside the enclave of the member that made it.
package struct OpenToken: Hashable, Sendable, DERReadable, DERWritable {
    package let verification: [UInt8]
    package let name: String
    package let expires: Int64
    /// The number of items that the companion would receive.
    package let itemCount: Int64

    package init(verification: [UInt8], name: String, expires: Int64, itemCount: Int64) {
        self.verification = verification
        self.name = name
        self.expires = expires
        self.itemCount = itemCount
    }

    package init(from fields: inout DERFields) throws {
        verification = try fields.octets("token", in: JoinToken.verificationBytes...JoinToken.verificationBytes)
        name = try fields.text("name", max: CircleRequest.nameBytesMax)
        expires = try fields.integer("expires", in: Int64.min...Int64.max)
        itemCount = try fields.integer("items", in: 0...Int64(BlindedNames.countMax))
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(verification)
            try fields.text(name)
            try fields.integer(expires)
            try fields.integer(itemCount)
        }
    }
}

extension DERFields {
    /// Reads at least one token under a context tag, or nothing.
    package mutating func tokens<Value: DERReadable>(_ number: UInt) throws -> [Value] {
        guard let tokens: [Value] = try optional(number, "tokens", read: { try $0.list("tokens", max: JoinToken.countMax) }) else {
            return []
        }
        guard !tokens.isEmpty else { throw DERError("tokens are missing") }
        return tokens
    }
}

extension DERWriter {
    package mutating func tokens(_ number: UInt, _ tokens: [some DERWritable]) throws {
        if !tokens.isEmpty { try tagged(number) { try $0.list(tokens) } }
    }
}
