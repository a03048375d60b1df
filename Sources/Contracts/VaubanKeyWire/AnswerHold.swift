package import VaubanDER
internal import VaubanUserModel

/// Makes the user's answer hold for further signatures, as part of a use. It contains the message whose digest is to be signed, so that the
/// enclave itself reads the message's purpose: an answer holds for signatures of messages (OpenSSH's PROTOCOL.sshsig) and nothing else.
///
/// `AnswerHold ::= SEQUENCE { seconds INTEGER (1..900), message OCTET STRING (SIZE (1..4096)) }`
package struct AnswerHold: Hashable, Sendable, DERReadable, DERWritable {
    package static let messageBytesMax = 4096
    private static let beginning = Array("SSHSIG".utf8)
    private static let lengthBytes = 4

    package let seconds: Int64
    package let message: [UInt8]
    /// The purpose that the message states.
    package let namespace: String

    /// Returns nil if the time is not allowed, or the message is not of a form for which an answer may hold.
    package init?(seconds: Int64, message: [UInt8]) {
        guard (1...PromptHold.secondsMax).contains(seconds), message.count <= Self.messageBytesMax,
            let namespace = Self.namespace(of: message)
        else { return nil }
        self.seconds = seconds
        self.message = message
        self.namespace = namespace
    }

    /// Returns the namespace: the string after the first six bytes. A login begins with the length of its session, so with a zero byte.
    private static func namespace(of message: [UInt8]) -> String? {
        let start = beginning.count + lengthBytes
        guard message.count > start, message.starts(with: beginning) else { return nil }
        let count = message[beginning.count..<start].reduce(0) { $0 << 8 | Int($1) }
        guard (1...PromptHold.namespaceBytesMax).contains(count), message.count > start + count else { return nil }
        let bytes = message[start..<start + count]
        return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    package init(from fields: inout DERFields) throws {
        let seconds = try fields.integer("seconds", in: 1...PromptHold.secondsMax)
        let message = try fields.octets("message", in: 1...Self.messageBytesMax)
        guard let hold = AnswerHold(seconds: seconds, message: message) else { throw DERError("an answer cannot hold for this message") }
        self = hold
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(seconds)
            try fields.octets(message)
        }
    }
}
