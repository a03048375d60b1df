// Tokens with which a server joins a circle (Specs/sync.md, "Joining by a token"): the record that the member keeps, and the request that
// the new device writes.

package import VaubanDER
package import VaubanSecretBytes
import VaubanSyncModel

/// The seed of a token's key. It leaves the enclave once and is not stored.
package final class TokenSeed: Sendable {
    package let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}

/// An unused token: the key that verifies the proof of its holder, and what the user approved.
struct TokenRecord: Hashable, Sendable, DERReadable, DERWritable {
    let verification: [UInt8]
    let name: String
    /// When the token was made, in microseconds since the reference date.
    let made: Int64
    let expires: Int64
    let names: BlindedNames

    init(verification: [UInt8], name: String, made: Int64, expires: Int64, names: BlindedNames) {
        self.verification = verification
        self.name = name
        self.made = made
        self.expires = expires
        self.names = names
    }

    init(from fields: inout DERFields) throws {
        verification = try fields.octets("token", in: JoinToken.verificationBytes...JoinToken.verificationBytes)
        name = try fields.text("name", max: CircleRequest.nameBytesMax)
        made = try fields.integer("made", in: Int64.min...Int64.max)
        expires = try fields.integer("expires", in: Int64.min...Int64.max)
        names = try fields.names("names")
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(verification)
            try fields.text(name)
            try fields.integer(made)
            try fields.integer(expires)
            try fields.octets(names.joined)
        }
    }

    var outside: OpenToken {
        OpenToken(verification: verification, name: name, expires: expires, itemCount: Int64(names.all.count))
    }
}

/// A join request by a token. Making the proof, which covers all keys of the new device, requires the token.
package struct TokenRequest: DERReadable, DERWritable {
    /// The member that made the token.
    package let member: [UInt8]
    package let verification: [UInt8]
    let newcomer: CircleDevice
    let proof: [UInt8]

    init(member: [UInt8], verification: [UInt8], newcomer: CircleDevice, proof: [UInt8]) {
        self.member = member
        self.verification = verification
        self.newcomer = newcomer
        self.proof = proof
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        member = try fields.octets("member", in: 16...16)
        verification = try fields.octets("token", in: JoinToken.verificationBytes...JoinToken.verificationBytes)
        newcomer = try fields.value("newcomer")
        proof = try fields.octets("proof", in: 64...64)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.octets(member)
            try fields.octets(verification)
            try fields.value(newcomer)
            try fields.octets(proof)
        }
    }

    /// Returns the bytes that the proof signs.
    static func proven(_ newcomer: CircleDevice, to member: [UInt8], in circle: [UInt8]) throws -> [UInt8] {
        circle + member + (try newcomer.encoded())
    }

    /// Returns whether the new device has the token.
    package func isProven(in circle: [UInt8]) -> Bool {
        guard let bytes = try? Self.proven(newcomer, to: member, in: circle) else { return false }
        return CircleSignature.token.isValid(proof, of: bytes, by: verification)
    }

    /// The name of the new device.
    package var name: String { newcomer.name }
}
