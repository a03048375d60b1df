// The evaluations of an LAContext, and their results.

package import VaubanAccessPolicy
package import VaubanDER
internal import VaubanRefusal

/// The operation that an access control is evaluated for: `LAAccessControlOperation`, with Apple's numbers.
package enum ControlOperation: Int64, CaseIterable, Sendable {
    case createItem = 0
    case useItem = 1
    case createKey = 2
    case sign = 3
    case decrypt = 4
    case exchangeKeys = 5

    package var itemOperation: ItemOperation {
        switch self {
        case .createItem, .createKey: .encrypt
        case .useItem: .decrypt
        case .sign: .sign
        // Decryption with a private key is a key exchange with the sender's key.
        case .decrypt, .exchangeKeys: .computeKey
        }
    }
}

/// One evaluation. It prompts the user unless the context's evidence suffices.
///
/// `Evaluation ::= SEQUENCE { subject CHOICE { policy [0] INTEGER, control [1] SEQUENCE { AccessControl, operation INTEGER } },
///   reason UTF8String (SIZE (0..1024)), mayPrompt BOOLEAN, reuseSeconds INTEGER (0..300), titles [2] PromptTitles OPTIONAL,
///   authorization [3] OCTET STRING (SIZE (32)) OPTIONAL }`
package struct Evaluation: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        case policy(OwnerPolicy)
        case control(AccessControl, ControlOperation)
    }

    package static let reasonBytesMax = 1024
    package static let reuseSecondsMax: Int64 = 300

    package let subject: Subject
    /// Shown to the user. An empty reason is refused.
    package let reason: String
    /// Whether the user may be prompted.
    package let mayPrompt: Bool
    /// The longest time, in seconds, since a fingerprint unlocked the device, for it to count in this evaluation.
    package let reuseSeconds: Int64
    package let titles: PromptTitles
    /// The context's authorization so far.
    package let authorization: [UInt8]?

    package init(
        _ subject: Subject, reason: String, mayPrompt: Bool = true, reuseSeconds: Int64 = 0, titles: PromptTitles = .standard,
        authorization: [UInt8]? = nil
    ) {
        self.subject = subject
        self.reason = reason
        self.mayPrompt = mayPrompt
        self.reuseSeconds = min(max(reuseSeconds, 0), Self.reuseSecondsMax)
        self.titles = titles
        self.authorization = authorization
    }
}

extension Evaluation: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        let number = try fields.choice("subject")
        let subject: Subject? = try fields.optional(number, "subject") { subject in
            switch number {
            case 0:
                guard let policy = OwnerPolicy(rawValue: try subject.integer("policy", in: 1...255)) else {
                    throw Refusal(.unsupported, "This policy is not supported")
                }
                return .policy(policy)
            case 1:
                let control: AccessControl = try subject.value("control")
                guard let operation = ControlOperation(rawValue: try subject.integer("operation", in: 0...255)) else {
                    throw Refusal(.unsupported, "This operation is not supported")
                }
                return .control(control, operation)
            default: throw DERError("subject is unknown")
            }
        }
        guard let subject else { throw DERError("subject is missing") }
        self.init(
            subject, reason: try fields.text("reason", max: Self.reasonBytesMax), mayPrompt: try fields.boolean("may prompt"),
            reuseSeconds: try fields.integer("reuse", in: 0...Self.reuseSecondsMax),
            titles: try fields.optional(2, "titles") { fields in
                let titles = try fields.value("titles", as: PromptTitles.self)
                guard titles != .standard else { throw DERError("titles say nothing") }
                return titles
            } ?? .standard,
            authorization: try fields.optionalOctets(3, "authorization", in: EvaluationResult.handleBytes...EvaluationResult.handleBytes))
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            switch subject {
            case .policy(let policy): try fields.tagged(0) { try $0.integer(policy.rawValue) }
            case .control(let control, let operation):
                try fields.tagged(1) {
                    try $0.value(control); try $0.integer(operation.rawValue)
                }
            }
            try fields.text(reason)
            try fields.boolean(mayPrompt)
            try fields.integer(reuseSeconds)
            if titles != .standard { try fields.tagged(2) { try $0.value(titles) } }
            try fields.optionalOctets(3, authorization)
        }
    }
}

/// The result of an evaluation. Neither part grants anything by itself: the handle is valid only at the enclave, for the process that
/// received it.
///
/// `EvaluationResult ::= SEQUENCE { authorization [0] OCTET STRING (SIZE (32)) OPTIONAL,
///   domainState [1] OCTET STRING (SIZE (32)) OPTIONAL }`
package struct EvaluationResult: Hashable, Sendable, DERReadable, DERWritable {
    package static let handleBytes = 32

    /// The handle of the authorization at the enclave; nil if the user was not prompted (`canEvaluate`).
    package let authorization: [UInt8]?
    /// Identifies the enrolled fingers to this application only. Another value means other fingers.
    package let domainState: [UInt8]?

    package init(authorization: [UInt8]? = nil, domainState: [UInt8]? = nil) {
        self.authorization = authorization
        self.domainState = domainState
    }

    package init(from fields: inout DERFields) throws {
        authorization = try fields.optionalOctets(0, "authorization", in: Self.handleBytes...Self.handleBytes)
        domainState = try fields.optionalOctets(1, "domain state", in: 32...32)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.optionalOctets(0, authorization)
            try fields.optionalOctets(1, domainState)
        }
    }
}
