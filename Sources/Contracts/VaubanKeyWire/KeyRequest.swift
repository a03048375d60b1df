// The connection on which an application uses keys of the enclave (Specs/enclave-keys.md): its own connection to keychaind, handed over, so
// that no room relays each signature.

package import VaubanAccessPolicy
package import VaubanDER
package import VaubanRefusal
package import VaubanUserModel

/// An operation of a private key, with the numbers of `LAAccessControlOperation` where Apple has one.
package enum KeyOperation: Int64, CaseIterable, Sendable {
    case sign = 3
    /// A key exchange with the sender's key, to decrypt a message.
    case decrypt = 4
    case exchange = 5
    case decapsulate = 6

    package var itemOperation: ItemOperation {
        switch self {
        case .sign: .sign
        case .decrypt, .exchange: .computeKey
        case .decapsulate: .decapsulate
        }
    }

    package var promptOperation: PromptOperation {
        switch self {
        case .sign: .sign
        case .decrypt, .decapsulate: .decrypt
        case .exchange: .exchangeKeys
        }
    }
}

/// One use of an opened key. The application password, if the key needs one, is the message's secret section.
///
/// `KeyUse ::= SEQUENCE { handle INTEGER (1..MAX), operation INTEGER (3..6), input OCTET STRING (SIZE (0..32768)), mayPrompt BOOLEAN,
///   reason [0] UTF8String (SIZE (0..1024)) OPTIONAL, authorization [1] OCTET STRING (SIZE (32)) OPTIONAL,
///   hold [2] AnswerHold OPTIONAL }`
package struct KeyUse: Hashable, Sendable, DERReadable, DERWritable {
    package static let inputBytesMax = 32_768
    package static let reasonBytesMax = 1024

    package let handle: Int64
    package let operation: KeyOperation
    /// A digest to sign with P-256, a message for ML-DSA, the other side's public key, or an encapsulated secret.
    package let input: [UInt8]
    package let mayPrompt: Bool
    package let reason: String?
    package let authorization: [UInt8]?
    /// Set if the user's answer may hold for further signatures. The message then carries two descriptors: the connection of the program
    /// that requests the signature from the caller, and the process that leads that program's session.
    package let hold: AnswerHold?

    package init(
        handle: Int64, operation: KeyOperation, input: [UInt8], mayPrompt: Bool, reason: String?, authorization: [UInt8]?,
        hold: AnswerHold? = nil
    ) {
        self.handle = handle
        self.operation = operation
        self.input = input
        self.mayPrompt = mayPrompt
        self.reason = reason
        self.authorization = authorization
        self.hold = hold
    }

    package init(from fields: inout DERFields) throws {
        handle = try fields.integer("handle", in: 1...Int64.max)
        guard let operation = KeyOperation(rawValue: try fields.integer("operation", in: 0...255)) else {
            throw Refusal(.unsupported, "This operation is not supported")
        }
        self.operation = operation
        input = try fields.octets("input", in: 0...Self.inputBytesMax)
        mayPrompt = try fields.boolean("may prompt")
        reason = try fields.optionalText(0, "reason", max: Self.reasonBytesMax)
        authorization = try fields.optionalOctets(1, "authorization", in: EvaluationResult.handleBytes...EvaluationResult.handleBytes)
        hold = try fields.optional(2, "hold") { try $0.value("hold") }
        guard hold == nil || operation == .sign else { throw DERError("hold goes with a signature") }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(handle)
            try fields.integer(operation.rawValue)
            try fields.octets(input)
            try fields.boolean(mayPrompt)
            try fields.optionalText(0, reason)
            try fields.optionalOctets(1, authorization)
            if let hold { try fields.tagged(2) { try $0.value(hold) } }
        }
    }
}

/// `KeyRequest ::= SEQUENCE { version INTEGER (1), call CHOICE { make [0] SEQUENCE { kind INTEGER, control AccessControl },
///   open [1] EnclaveKey, use [2] KeyUse, close [3] INTEGER } }`
package enum KeyRequest: Hashable, Sendable, DERReadable, DERWritable {
    /// Makes a key. The application password, if the access control needs one, is the message's secret section.
    case make(EnclaveKeyKind, AccessControl)
    /// Returns a handle to a key, for this connection only.
    case open(EnclaveKey)
    case use(KeyUse)
    case close(Int64)

    package static let version: Int64 = 1

    package init(from fields: inout DERFields) throws {
        try fields.version(Self.version)
        let number = try fields.choice("call")
        let call: KeyRequest? = try fields.optional(number, "call") { call in
            switch number {
            case 0:
                guard let kind = EnclaveKeyKind(rawValue: try call.integer("kind", in: 1...255)) else {
                    throw Refusal(.unsupported, "Keys of this type are not supported")
                }
                return .make(kind, try call.value("control"))
            case 1: return .open(try call.value("key"))
            case 2: return .use(try call.value("use"))
            case 3: return .close(try call.integer("handle", in: 1...Int64.max))
            default: throw Refusal(.unknownRequest, "key request \(number) is not known to version \(Self.version)")
            }
        }
        guard let call else { throw DERError("call is missing") }
        self = call
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(Self.version)
            switch self {
            case .make(let kind, let control):
                try fields.tagged(0) {
                    try $0.integer(kind.rawValue); try $0.value(control)
                }
            case .open(let key): try fields.tagged(1) { try $0.value(key) }
            case .use(let use): try fields.tagged(2) { try $0.value(use) }
            case .close(let handle): try fields.tagged(3) { try $0.integer(handle) }
            }
        }
    }
}

/// `KeyReply ::= SEQUENCE { version INTEGER (1), CHOICE { refused [0] Refusal, waitingForUser [1] UTF8String, made [2] EnclaveKey,
///   opened [3] INTEGER, signed [4] OCTET STRING (SIZE (1..8192)), shared [5], closed [6],
///   queued [21] } }`
package enum KeyReply: Hashable, Sendable, DERReadable, DERWritable {
    case refused(Refusal)
    /// The user is being prompted at this place; the final reply follows.
    case waitingForUser(place: String)
    /// The request is queued; the final reply follows.
    case queued
    case made(EnclaveKey)
    case opened(Int64)
    case signed([UInt8])
    /// The shared secret is the message's secret section.
    case shared
    case closed

    package init(from fields: inout DERFields) throws {
        try fields.version(KeyRequest.version)
        let number = try fields.choice("reply")
        let reply: KeyReply? = try fields.optional(number, "reply") { reply in
            switch number {
            case 0: return .refused(try reply.value("refusal"))
            case 1: return .waitingForUser(place: try reply.text("place", max: 256))
            case 2: return .made(try reply.value("key"))
            case 3: return .opened(try reply.integer("handle", in: 1...Int64.max))
            case 4: return .signed(try reply.octets("signature", in: 1...8192))
            case 5: return .shared
            case 6: return .closed
            case 21: return .queued
            default: throw DERError("reply is unknown")
            }
        }
        guard let reply else { throw DERError("reply is missing") }
        self = reply
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(KeyRequest.version)
            switch self {
            case .refused(let refusal): try fields.tagged(0) { try $0.value(refusal) }
            case .waitingForUser(let place): try fields.tagged(1) { try $0.text(place) }
            case .made(let key): try fields.tagged(2) { try $0.value(key) }
            case .opened(let handle): try fields.tagged(3) { try $0.integer(handle) }
            case .signed(let signature): try fields.tagged(4) { try $0.octets(signature) }
            case .shared: fields.tagged(5) { _ in }
            case .closed: fields.tagged(6) { _ in }
            case .queued: fields.tagged(21) { _ in }
            }
        }
    }
}
