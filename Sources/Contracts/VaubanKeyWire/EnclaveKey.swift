// A private key as stored outside the enclave that made it (Specs/enclave-keys.md).

package import VaubanAccessPolicy
package import VaubanDER
package import VaubanRefusal

/// The key types of an enclave.
package enum EnclaveKeyKind: Int64, CaseIterable, Sendable {
    /// ECDSA and ECDH over P-256.
    case p256 = 1
    /// FIPS 204.
    case mldsa65 = 2
    case mldsa87 = 3
    /// FIPS 203.
    case mlkem768 = 4
    case mlkem1024 = 5

    /// The length of the public half: X9.63 for P-256, the encodings of FIPS 203 and 204 for the others.
    package var publicBytes: Int {
        switch self {
        case .p256: 65
        case .mldsa65: 1952
        case .mldsa87: 2592
        case .mlkem768: 1184
        case .mlkem1024: 1568
        }
    }

    /// Returns whether keys of this type can perform an operation.
    package func supports(_ operation: KeyOperation) -> Bool {
        switch self {
        case .p256: operation != .decapsulate
        case .mldsa65, .mldsa87: operation == .sign
        case .mlkem768, .mlkem1024: operation == .decapsulate
        }
    }
}

/// A private key, wrapped by keys that only its enclave has. It is useless elsewhere, so it may be stored anywhere. The enclave accepts
/// nothing in it that it did not write itself.
///
/// `EnclaveKey ::= SEQUENCE { version INTEGER (1), slot INTEGER { software (0) }, kind INTEGER (1..5), user INTEGER,
///   identifier OCTET STRING (SIZE (16)), control AccessControl, publicKey OCTET STRING, generation OCTET STRING (SIZE (8)),
///   wrapped OCTET STRING (SIZE (1..2048)) }`
package struct EnclaveKey: Hashable, Sendable, DERReadable, DERWritable {
    package static let version: Int64 = 1
    package static let wrappedBytesMax = 2048

    /// The kind of enclave that can open the key.
    package enum Slot: Int64, Sendable { case software = 0 }

    package let kind: EnclaveKeyKind
    package let user: UInt32
    /// Identifies the key for its whole life.
    package let identifier: [UInt8]
    /// The protection class in which it can be used, and what the user must present for each use.
    package let control: AccessControl
    package let publicKey: [UInt8]
    /// The generation of the key that wraps it.
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
            throw DERError("the key belongs to another kind of enclave")
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

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try writeHead(into: &fields)
            try fields.octets(wrapped)
        }
    }

    private func writeHead(into fields: inout DERWriter) throws {
        try fields.integer(Self.version)
        try fields.integer(Slot.software.rawValue)
        try fields.integer(kind.rawValue)
        try fields.integer(Int64(user))
        try fields.octets(identifier)
        try fields.value(control)
        try fields.octets(publicKey)
        try fields.octets(generation)
    }

    /// Returns the encoding of everything except the wrapped key, to which the wrapped key is bound.
    package func head() throws -> [UInt8] { try Head(key: self).encoded() }

    private struct Head: DERWritable {
        let key: EnclaveKey
        func write(into der: inout DERWriter) throws { try der.sequence { try key.writeHead(into: &$0) } }
    }

    /// Decodes stored bytes. Throws `unsupported` for a later version, and `keyDamaged` for anything else that is not a key.
    package init(stored bytes: [UInt8]) throws(Refusal) {
        do {
            try self.init(derBytes: bytes)
        } catch let error as DERError where error.newerVersion != nil {
            throw Refusal(
                .unsupported, "The key was made by a later version of Vauban (version \(error.newerVersion ?? 0)); install that version")
        } catch {
            throw Refusal(.keyDamaged)
        }
    }
}
