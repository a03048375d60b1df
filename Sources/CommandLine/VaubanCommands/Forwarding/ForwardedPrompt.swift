package import Crypto
package import VaubanDER
package import VaubanSyncModel
package import VaubanUserModel

/// The state of a device's prompts, as forwarded (Specs/forwarded-prompts.md).
///
/// `ForwardedPrompt ::= SEQUENCE { version INTEGER (1), number INTEGER (1..), time INTEGER, state CHOICE {
///   asked [0] IMPLICIT SEQUENCE { request PromptRequest }, ended [1] IMPLICIT SEQUENCE { outcome INTEGER } } }`
package struct ForwardedPrompt: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case asked(PromptRequest)
        case ended(PromptOutcome)
    }

    private static let magic = Array("VAUBAN FORWARDED PROMPT 1\n".utf8)
    private static let signatureBytes = 64
    /// Later than any real date, and far below the point where sums overflow.
    private static let timeMax: Int64 = 1 << 53

    /// Greater than the number of the state before, so that an earlier state is never shown again.
    package let number: Int64
    /// When the state was written, in microseconds since 2001-01-01 by the device's clock.
    package let time: Int64
    package let state: State

    package init(number: Int64, time: Int64, _ state: State) {
        self.number = number
        self.time = time
        self.state = state
    }

    /// Returns the bytes of the file.
    package func sealed(
        of device: [UInt8], in circle: CircleView, _ cipher: FrameCipher, signing key: Curve25519.Signing.PrivateKey
    ) throws -> [UInt8] {
        let sealed = try cipher.seal(PaddedPayload.padded(try encoded()), .forwardedPrompt(device: device))
        return Self.magic + Array(try key.signature(for: Self.signed(sealed, of: device, in: circle))) + sealed
    }

    private static func signed(_ sealed: [UInt8], of device: [UInt8], in circle: CircleView) -> [UInt8] {
        Array("vauban forwarded prompt v1".utf8) + [0] + (circle.circle ?? []) + device + Array(SHA256.hash(data: sealed))
    }

    /// Opens and verifies the file of a device. Returns nil if it is incomplete, or was not written by this forwarder.
    package static func opened(
        _ bytes: [UInt8], of device: [UInt8], in circle: CircleView, under cipher: FrameCipher, by forwarder: ForwarderFile
    ) -> ForwardedPrompt? {
        guard bytes.starts(with: magic) else { return nil }
        var reader = ByteReader(Array(bytes.dropFirst(magic.count)))
        guard let signature = reader.take(signatureBytes), let sealed = reader.take(bytes.count - magic.count - signatureBytes),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: forwarder.verification),
            key.isValidSignature(signature, for: signed(sealed, of: device, in: circle)),
            let payload = cipher.open(sealed, .forwardedPrompt(device: device)).flatMap({ PaddedPayload.payload(of: $0) })
        else { return nil }
        return try? ForwardedPrompt(derBytes: payload)
    }
}

extension ForwardedPrompt: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        number = try fields.integer("number", in: 1...Int64.max)
        time = try fields.integer("time", in: 0...Self.timeMax)
        let kind = try fields.choice("state")
        let state: State? = try fields.optional(kind, "state") { state in
            switch kind {
            case 0: return .asked(try state.value("request"))
            case 1:
                guard let outcome = PromptOutcome(rawValue: try state.integer("outcome", in: 0...255)) else {
                    throw DERError("outcome is unknown")
                }
                return .ended(outcome)
            default: throw DERError("state is unknown")
            }
        }
        guard let state else { throw DERError("state is missing") }
        self.state = state
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.integer(number)
            try fields.integer(time)
            switch state {
            case .asked(let request): try fields.tagged(0) { try $0.value(request) }
            case .ended(let outcome): try fields.tagged(1) { try $0.integer(outcome.rawValue) }
            }
        }
    }
}

/// The answer to a forwarded prompt. A passcode in it is sealed to the enclave of the device that forwarded the prompt.
///
/// `ForwardedAnswer ::= SEQUENCE { version INTEGER (1), challenge OCTET STRING (SIZE (32)), answer PromptAnswer }`
package struct ForwardedAnswer: Hashable, Sendable {
    private static let magic = Array("VAUBAN FORWARDED ANSWER 1\n".utf8)

    /// The nonce of the challenge that this answers.
    package let challenge: [UInt8]
    package let answer: PromptAnswer

    package init(to challenge: [UInt8], _ answer: PromptAnswer) {
        self.challenge = challenge
        self.answer = answer
    }

    /// Returns the bytes of the file, for the device that forwarded the prompt.
    package func sealed(for device: [UInt8], _ cipher: FrameCipher) throws -> [UInt8] {
        Self.magic + (try cipher.seal(PaddedPayload.padded(try encoded()), .forwardedAnswer(device: device)))
    }

    /// Opens the file for a device. Returns nil if it is incomplete, or does not answer this device's prompts.
    package static func opened(_ bytes: [UInt8], for device: [UInt8], _ cipher: FrameCipher) -> ForwardedAnswer? {
        guard bytes.starts(with: magic),
            let payload = cipher.open(Array(bytes.dropFirst(magic.count)), .forwardedAnswer(device: device))
                .flatMap({ PaddedPayload.payload(of: $0) })
        else { return nil }
        return try? ForwardedAnswer(derBytes: payload)
    }
}

extension ForwardedAnswer: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        challenge = try fields.octets("challenge", in: 32...32)
        answer = try PromptAnswer(choiceFrom: &fields)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.octets(challenge)
            try answer.write(into: &fields)
        }
    }
}
