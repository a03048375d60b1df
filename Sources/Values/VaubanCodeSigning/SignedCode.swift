// The signature of an executable, and the area at the end of the file that holds it (Specs/code-signing.md).

internal import Crypto
package import VaubanAccessPolicy
package import VaubanDER

/// `SignedCode ::= SEQUENCE { version INTEGER (1), key OCTET STRING (SIZE (91)), description OCTET STRING (SIZE (1..12288)),
///   signature OCTET STRING (SIZE (8..72)) }`
package struct SignedCode: Hashable, Sendable {
    /// The SubjectPublicKeyInfo of a P-256 key (RFC 5480).
    package let key: [UInt8]
    /// A `CodeDescription` in DER, as it was signed.
    package let description: [UInt8]
    /// ECDSA with SHA-256 of `message(for:)`, in DER.
    package let signature: [UInt8]

    package static let descriptionBytesMax = 12_288
    private static let keyBytes = 91

    package init(key: [UInt8], description: [UInt8], signature: [UInt8]) {
        self.key = key
        self.description = description
        self.signature = signature
    }

    package var team: TeamIdentifier { Self.team(of: key) }

    /// Returns the team whose key this is; `key` is its SubjectPublicKeyInfo.
    package static func team(of key: [UInt8]) -> TeamIdentifier { TeamIdentifier(keyDigest: Array(SHA256.hash(data: key))) }

    /// Returns the signed bytes: the pre-authentication encoding of DSSE, version 1.
    package static func message(for description: [UInt8]) -> [UInt8] {
        Array("DSSEv1 \(payloadType.utf8.count) \(payloadType) \(description.count) ".utf8) + description
    }
    package static let payloadType = "application/vnd.vauban.code+der"

    /// Returns the signed description, if the signature is valid under the key.
    ///
    /// - Throws: `DamagedSignature`.
    package func verifiedDescription() throws(DamagedSignature) -> CodeDescription {
        guard let publicKey = try? P256.Signing.PublicKey(derRepresentation: key), Array(publicKey.derRepresentation) == key else {
            throw .badKey
        }
        guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature),
            publicKey.isValidSignature(signature, for: Self.message(for: description))
        else { throw .badSignature }
        guard let described = try? CodeDescription(derBytes: description) else { throw .malformed }
        return described
    }
}

extension SignedCode: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        key = try fields.octets("key", in: Self.keyBytes...Self.keyBytes)
        description = try fields.octets("description", in: 1...Self.descriptionBytesMax)
        signature = try fields.octets("signature", in: 8...72)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.octets(key)
            try fields.octets(description)
            try fields.octets(signature)
        }
    }
}

/// Why a file that has a signature area has no valid signature. The fault was made when the file was signed or changed.
package enum DamagedSignature: Error, Hashable, Sendable {
    /// The area has a form that this version does not write.
    case malformed
    case badKey
    case badSignature
    /// The signature is of a file of another size or content.
    case otherContent
}

/// The last 16,384 bytes of a signed file.
package enum SignatureArea {
    package static let bytes = 16_384
    private static let mark = Array("vauban signed 1\n".utf8)
    private static let lengthBytes = 4

    /// Returns the area for a signature.
    package static func encode(_ code: SignedCode) throws -> [UInt8] {
        let encoded = try code.encoded()
        let zeros = bytes - encoded.count - lengthBytes - mark.count
        guard zeros >= 0 else { throw DERError("the signature is too long") }
        let length = withUnsafeBytes(of: UInt32(encoded.count).bigEndian) { [UInt8]($0) }
        return encoded + [UInt8](repeating: 0, count: zeros) + length + mark
    }

    /// Returns the signature in an area, or nil if the bytes do not end with the mark.
    ///
    /// - Throws: `DamagedSignature.malformed`.
    package static func decode(_ area: [UInt8]) throws(DamagedSignature) -> SignedCode? {
        guard area.count == bytes, area.suffix(mark.count).elementsEqual(mark) else { return nil }
        let end = bytes - mark.count - lengthBytes
        let length = area[end..<end + lengthBytes].reduce(0) { $0 << 8 | Int($1) }
        guard length <= end, area[length..<end].allSatisfy({ $0 == 0 }), let code = try? SignedCode(derBytes: Array(area[..<length])) else {
            throw .malformed
        }
        return code
    }
}
