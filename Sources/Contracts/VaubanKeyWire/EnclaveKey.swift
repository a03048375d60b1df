// A private key as it lies outside the enclave that made it (Specs/enclave-keys.md).

package import SwiftASN1
package import VaubanAccessPolicy
package import VaubanDER
package import VaubanRefusal

/// The types of keys that an enclave makes.
package enum EnclaveKeyKind: Int64, CaseIterable, Sendable {
    /// ECDSA and ECDH over P-256.
    case p256 = 1
    /// FIPS 204.
    case mldsa65 = 2
    case mldsa87 = 3
    /// FIPS 203.
    case mlkem768 = 4
    case mlkem1024 = 5

    /// The public half: X9.63 for P-256, the encodings of FIPS 203 and 204 for the others.
    package var publicBytes: Int {
        switch self {
        case .p256: 65
        case .mldsa65: 1952
        case .mldsa87: 2592
        case .mlkem768: 1184
        case .mlkem1024: 1568
        }
    }

    /// What keys of this type can be used for.
    package func does(_ operation: KeyOperation) -> Bool {
        switch self {
        case .p256: operation != .decapsulate
        case .mldsa65, .mldsa87: operation == .sign
        case .mlkem768, .mlkem1024: operation == .decapsulate
        }
    }
}

/// A private key under keys that only its enclave has: worth nothing anywhere else, so it may lie anywhere. The enclave believes
/// nothing of it that it did not write itself.
///
/// `EnclaveKey ::= SEQUENCE { version INTEGER (1), slot INTEGER { software (0) }, kind INTEGER (1..5), user INTEGER,
///   identifier OCTET STRING (SIZE (16)), control AccessControl, publicKey OCTET STRING, generation OCTET STRING (SIZE (8)),
///   wrapped OCTET STRING (SIZE (1..2048)) }`
package struct EnclaveKey: Hashable, Sendable, DERReadable, DERWritable {
    package static let version: Int64 = 1
    package static let wrappedBytesMax = 2048

    /// Which kind of enclave has the rest.
    package enum Slot: Int64, Sendable { case software = 0 }

    package let kind: EnclaveKeyKind
    package let user: UInt32
    /// The key, for its whole life.
    package let identifier: [UInt8]
    /// The class in which it can be used, and what its user must show for each use.
    package let control: AccessControl
    package let publicKey: [UInt8]
    /// Names the key that wraps it.
    package let generation: [UInt8]
    package let wrapped: [UInt8]

    package init(
        kind: EnclaveKeyKind, user: UInt32, identifier: [UInt8], control: AccessControl, publicKey: [UInt8], generation: [UInt8],
        wrapped: [UInt8]
    ) {
        self.kind = kind
        self.user = user
        self.identifier = identifier
        self.control = control
        self.publicKey = publicKey
        self.generation = generation
        self.wrapped = wrapped
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(Self.version)
        guard Slot(rawValue: try fields.integer("slot", in: 0...255)) != nil else {
            throw DERError("the key lies in another kind of enclave")
        }
        guard let kind = EnclaveKeyKind(rawValue: try fields.integer("kind", in: 1...255)) else { throw DERError("kind is unknown") }
        self.kind = kind
        user = UInt32(try fields.integer("user", in: 0...Int64(UInt32.max)))
        identifier = try fields.octets("identifier", in: 16...16)
        control = try fields.value("control")
        publicKey = try fields.octets("public key", in: kind.publicBytes...kind.publicBytes)
        generation = try fields.octets("generation", in: 8...8)
        wrapped = try fields.octets("wrapped key", in: 1...Self.wrappedBytesMax)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try writeHead(into: &fields)
            try fields.octets(wrapped)
        }
    }

    private func writeHead(into fields: inout DER.Serializer) throws {
        try fields.integer(Self.version)
        try fields.integer(Slot.software.rawValue)
        try fields.integer(kind.rawValue)
        try fields.integer(Int64(user))
        try fields.octets(identifier)
        try fields.value(control)
        try fields.octets(publicKey)
        try fields.octets(generation)
    }

    /// Everything but the wrapped key: what that is bound to.
    package func head() throws -> [UInt8] { try Head(key: self).encoded() }

    private struct Head: DERWritable {
        let key: EnclaveKey
        func write(into der: inout DER.Serializer) throws { try der.sequence { try key.writeHead(into: &$0) } }
    }

    /// Reads the bytes of a key, wherever they lay, and says which of the three ways of being none they have.
    package init(stored bytes: [UInt8]) throws(Refusal) {
        do {
            try self.init(derBytes: bytes)
        } catch let fault as DERError where fault.newerVersion != nil {
            throw Refusal(.unsupported, "the key was made by a later Vauban (version \(fault.newerVersion ?? 0)); install that one")
        } catch {
            throw Refusal(.keyDamaged)
        }
    }
}
