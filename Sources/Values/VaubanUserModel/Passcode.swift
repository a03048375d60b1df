package import VaubanDER

/// The purpose of a passcode. It is part of the seal, so that a passcode sealed for one purpose serves no other.
package enum PasscodePurpose: Int64, Sendable {
    case unlock = 1
    case set = 2
    case change = 3
    /// An answer to a prompt: reading an item, or an evaluation.
    case prompt = 4
    case remove = 5
    /// A recovery key in place of the passcode, and the new passcode.
    case recover = 6
    /// A new recovery key, or its removal.
    case recoveryKey = 7
    /// The settings for automatic locking.
    case configure = 8
    /// Enrolling, listing or deleting fingers.
    case enroll = 9
    case erase = 10
}

/// The policies of LocalAuthentication that the enclave supports (`LAPolicy`, with Apple's numbers).
package enum OwnerPolicy: Int64, Sendable {
    case biometry = 1
    case biometryOrPasscode = 2
}

/// A new nonce to which one passcode is bound. The enclave's public key is sent with it as sealed memory (`EnclaveKeyCard`), whose creator
/// the kernel names.
package struct PasscodeChallenge: Hashable, Sendable, DERReadable, DERWritable {
    package let nonce: [UInt8]
    package let purpose: PasscodePurpose

    package init(nonce: [UInt8], purpose: PasscodePurpose) {
        self.nonce = nonce
        self.purpose = purpose
    }

    package init(from fields: inout DERFields) throws {
        nonce = try fields.octets("nonce", in: 32...32)
        guard let purpose = PasscodePurpose(rawValue: try fields.integer("purpose", in: 1...255)) else {
            throw DERError("purpose is unknown")
        }
        self.purpose = purpose
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(nonce)
            try fields.integer(purpose.rawValue)
        }
    }

    /// Returns the HPKE `info` of a passcode sealed for this challenge (RFC 9180, section 5.1); `user` is the uid.
    package func sealInfo(user: UInt32) -> [UInt8] {
        Array("vauban passcode v1".utf8) + [0, UInt8(purpose.rawValue)] + withUnsafeBytes(of: user.bigEndian) { Array($0) } + nonce
    }
}

/// `EnclaveKeyCard ::= SEQUENCE { version INTEGER (1), publicKey OCTET STRING (SIZE (32)) }`: the X25519 key to which passcodes are sealed,
/// new with each start of the enclave.
package struct EnclaveKeyCard: Hashable, Sendable, DERReadable, DERWritable {
    package static let bytesMax = 128
    package let publicKey: [UInt8]

    package init(publicKey: [UInt8]) { self.publicKey = publicKey }

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        publicKey = try fields.octets("public key", in: 32...32)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.octets(publicKey)
        }
    }
}

/// A passcode in transit: HPKE (X25519, HKDF-SHA256, AES-256-GCM), base mode, one message. Its additional data is the `SealBinding` of what
/// it authorizes, or empty.
/// `SealedPasscode ::= SEQUENCE { encapsulated OCTET STRING (SIZE (32)), ciphertext OCTET STRING }`
package struct SealedPasscode: Hashable, Sendable, DERReadable, DERWritable {
    /// Bytes of a passcode, without the tag of the seal.
    package static let passcodeBytesMax = 1024
    package let encapsulated: [UInt8]
    package let ciphertext: [UInt8]

    package init(encapsulated: [UInt8], ciphertext: [UInt8]) {
        self.encapsulated = encapsulated
        self.ciphertext = ciphertext
    }

    package init(from fields: inout DERFields) throws {
        encapsulated = try fields.octets("encapsulated key", in: 32...32)
        ciphertext = try fields.octets("ciphertext", in: 16...Self.passcodeBytesMax + 16)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(encapsulated)
            try fields.octets(ciphertext)
        }
    }
}

extension DERFields {
    /// Reads a sealed passcode that may be absent.
    package mutating func optionalSeal(_ number: UInt) throws -> SealedPasscode? {
        try optional(number, "sealed secret") { try $0.value("sealed secret", as: SealedPasscode.self) }
    }
}

extension DERWriter {
    package mutating func optionalSeal(_ number: UInt, _ seal: SealedPasscode?) throws {
        if let seal { try tagged(number) { try $0.value(seal) } }
    }
}
