// The door of authd for callers and for prompt agents (Specs/authentication-wire.md).

package import SwiftASN1
package import VaubanAccessPolicy
package import VaubanDER

/// The role that a client names in its greeting.
package enum AuthenticationRole: Int64, Sendable {
    case caller = 0
    case agent = 1
}

/// What a caller asks of authd. Passcodes come sealed to the enclave and bound to a challenge.
package enum AuthenticationRequest: Hashable, Sendable {
    case status
    case challenge(PasscodePurpose)
    case setPasscode(PasscodeChallenge, new: SealedPasscode)
    case changePasscode(PasscodeChallenge, old: SealedPasscode, new: SealedPasscode)
    case unlock(PasscodeChallenge, SealedPasscode)
    case lock
    case canEvaluate(OwnerPolicy)
    /// Shows the person the reason and waits for the answer.
    case evaluate(OwnerPolicy, reason: String)
}

/// `AuthenticationRequest ::= SEQUENCE { version INTEGER (1), call CHOICE { status [0], challenge [1], setPasscode [2],
///   changePasscode [3], unlock [4], lock [5], canEvaluate [6], evaluate [7] } }`
extension AuthenticationRequest: DERReadable, DERWritable {
    package static let version: Int64 = 1
    package static let reasonBytesMax = 1024

    package init(from fields: inout DERFields) throws {
        try fields.version(Self.version)
        let number = try fields.choice("call")
        let call: AuthenticationRequest? = try fields.optional(number, "call") { call in
            switch number {
            case 0: return .status
            case 1:
                guard let purpose = PasscodePurpose(rawValue: try call.integer("purpose", in: 1...255)), purpose != .prompt else {
                    throw DERFault("purpose is unknown")
                }
                return .challenge(purpose)
            case 2: return .setPasscode(try call.value("challenge"), new: try call.value("passcode"))
            case 3: return .changePasscode(try call.value("challenge"), old: try call.value("passcode"), new: try call.value("passcode"))
            case 4: return .unlock(try call.value("challenge"), try call.value("passcode"))
            case 5: return .lock
            case 6: return .canEvaluate(try Self.policy(&call))
            case 7: return .evaluate(try Self.policy(&call), reason: try call.text("reason", max: Self.reasonBytesMax))
            default: throw Refusal(.unknownRequest, "authentication request \(number) is not known to version \(Self.version)")
            }
        }
        guard let call else { throw DERFault("call is missing") }
        self = call
    }

    private static func policy(_ call: inout DERFields) throws -> OwnerPolicy {
        guard let policy = OwnerPolicy(rawValue: try call.integer("policy", in: 1...255)) else {
            throw Refusal(.unsupported, "this policy is not known here")
        }
        return policy
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(Self.version)
            switch self {
            case .status: fields.tagged(0) { _ in }
            case .challenge(let purpose): try fields.tagged(1) { try $0.integer(purpose.rawValue) }
            case .setPasscode(let challenge, let new):
                try fields.tagged(2) { try $0.value(challenge); try $0.value(new) }
            case .changePasscode(let challenge, let old, let new):
                try fields.tagged(3) { try $0.value(challenge); try $0.value(old); try $0.value(new) }
            case .unlock(let challenge, let passcode):
                try fields.tagged(4) { try $0.value(challenge); try $0.value(passcode) }
            case .lock: fields.tagged(5) { _ in }
            case .canEvaluate(let policy): try fields.tagged(6) { try $0.integer(policy.rawValue) }
            case .evaluate(let policy, let reason):
                try fields.tagged(7) { try $0.integer(policy.rawValue); try $0.text(reason) }
            }
        }
    }
}
