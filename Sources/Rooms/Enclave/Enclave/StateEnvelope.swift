package import VaubanDER
import VaubanSecretBytes

/// A state file: its content with an authentication code over its name and user, under a key of the device secret. A file that was altered,
/// swapped or copied from elsewhere is detected before its content is used.
///
/// `StateEnvelope ::= SEQUENCE { version INTEGER (1), device OCTET STRING (SIZE (16)), content OCTET STRING,
///   code OCTET STRING (SIZE (32)) }`
package struct StateEnvelope: DERReadable, DERWritable, Sendable {
    package let device: [UInt8]
    package let content: [UInt8]
    private let code: [UInt8]

    package init(content: [UInt8], name: StateName, user: UInt32, backend: some EnclaveBackend) throws(BackendError) {
        self.device = backend.deviceIdentifier
        self.content = content
        let key = try Self.key(backend)
        self.code = KeyWrap.authenticationCode(of: Self.covered(content, name: name, user: user), under: key)
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        device = try fields.octets("device", in: 16...16)
        content = try fields.octets("content", in: 1...EnclaveLimits.stateBytesMax)
        code = try fields.octets("code", in: 32...32)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.octets(device)
            try fields.octets(content)
            try fields.octets(code)
        }
    }

    /// Returns the content of a file. Throws unless this device wrote it for this name and user: `DERError` for bytes that are no envelope
    /// or one of a later version, otherwise `StateEnvelopeError`.
    package static func open(_ bytes: [UInt8], name: StateName, user: UInt32, backend: some EnclaveBackend) throws -> [UInt8] {
        guard bytes.count <= name.bytesMax else { throw DERError("the file is too large") }
        let envelope = try StateEnvelope(derBytes: bytes)
        guard envelope.device == backend.deviceIdentifier else { throw StateEnvelopeError.otherDevice }
        let key = try key(backend)
        guard KeyWrap.isValid(envelope.code, of: covered(envelope.content, name: name, user: user), under: key) else {
            throw StateEnvelopeError.altered
        }
        return envelope.content
    }

    private static func key(_ backend: some EnclaveBackend) throws(BackendError) -> SecretBytes {
        try backend.deviceKey(label: "vauban state authentication v1", context: [])
    }

    private static func covered(_ content: [UInt8], name: StateName, user: UInt32) -> [UInt8] {
        Array(name.rawValue.utf8) + [0] + withUnsafeBytes(of: user.bigEndian) { Array($0) } + content
    }
}

/// Why a decoded envelope cannot be used. The disk is to blame, or whoever changed the file.
package enum StateEnvelopeError: Error, Sendable {
    /// Another device wrote the file, or this one before its device secret was replaced. The file may be intact.
    case otherDevice
    case altered
}
