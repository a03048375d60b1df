package import VaubanDER
package import VaubanUserModel

/// The enclave's answer to a `UserRequest`. authd passes it on unchanged.
package enum UserAnswer: Hashable, Sendable {
    case done
    case status(DeviceStatus)
    /// Sent with the enclave's key card as a descriptor.
    case challenge(PasscodeChallenge)
    /// The answer to `evaluate` and `canEvaluate`.
    case evaluated(EvaluationResult)
    case environment(OwnerEnvironment)
    /// The names of the user's fingers, as in the template store.
    case fingers([String])

    /// Number of descriptors sent with the answer.
    package var descriptorCount: Int { if case .challenge = self { 1 } else { 0 } }
}

/// `UserAnswer ::= SEQUENCE { answer CHOICE { done [0], status [1], challenge [2], evaluated [3], environment [4], fingers [5] } }`
extension UserAnswer: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        let number = try fields.choice("answer")
        let answer: UserAnswer? = try fields.optional(number, "answer") { answer in
            switch number {
            case 0: return .done
            case 1: return .status(try answer.value("status"))
            case 2: return .challenge(try answer.value("challenge"))
            case 3: return .evaluated(try answer.value("result"))
            case 4: return .environment(try answer.value("environment"))
            case 5: return .fingers(try answer.list("fingers", max: FingerName.countMax, of: FingerName.self).map(\.text))
            default: throw DERError("answer is unknown")
            }
        }
        guard let answer else { throw DERError("answer is missing") }
        self = answer
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            switch self {
            case .done: fields.tagged(0) { _ in }
            case .status(let status): try fields.tagged(1) { try $0.value(status) }
            case .challenge(let challenge): try fields.tagged(2) { try $0.value(challenge) }
            case .evaluated(let result): try fields.tagged(3) { try $0.value(result) }
            case .environment(let environment): try fields.tagged(4) { try $0.value(environment) }
            case .fingers(let names): try fields.tagged(5) { try $0.list(names.prefix(FingerName.countMax).map(FingerName.init)) }
            }
        }
    }
}

/// `FingerName ::= SEQUENCE { name UTF8String }`: one finger as the template store names it, "right-index-finger".
package struct FingerName: Hashable, Sendable, DERReadable, DERWritable {
    /// Fingers of one user.
    package static let countMax = 10
    package static let bytesMax = 64
    package let text: String

    package init(_ text: String) { self.text = text }
    package init(from fields: inout DERFields) throws { text = try fields.text("name", max: Self.bytesMax) }
    package func write(into der: inout DERWriter) throws { try der.sequence { try $0.text(text) } }
}
