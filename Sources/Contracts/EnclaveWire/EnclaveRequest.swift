package import SwiftASN1
package import VaubanAccessPolicy
package import VaubanDER

/// What a room asks of the enclave on one connection. The person is always that of the registered caller.
package enum EnclaveRequest: Hashable, Sendable {
    /// Comes with two descriptors: the caller's accepted connection and its process. Valid for this connection, until
    /// the next registration on it.
    case registerCaller
    /// For keychaind: a new item key, wrapped for this row. The key is the reply's secret section.
    case seal(RowBinding)
    /// For keychaind: the item key of this row. May ask the person first, unless `mayAsk` is false.
    case open(RowBinding, wrapped: [UInt8], reason: String?, mayAsk: Bool)
    /// For keychaind: the metadata and index keys that are open now, as one secret section.
    case lease
    /// For authd: the requests of its own door, passed on.
    case status
    case challenge(PasscodePurpose)
    case setPasscode(PasscodeChallenge, new: SealedPasscode)
    case changePasscode(PasscodeChallenge, old: SealedPasscode, new: SealedPasscode)
    case unlock(PasscodeChallenge, SealedPasscode)
    case lock
    case canEvaluate(OwnerPolicy)
    case evaluate(OwnerPolicy, reason: String)

    /// The role whose connections may ask this.
    package var role: EnclaveRole? {
        switch self {
        case .registerCaller: nil
        case .seal, .open, .lease: .keychain
        case .status, .challenge, .setPasscode, .changePasscode, .unlock, .lock, .canEvaluate, .evaluate: .authentication
        }
    }
}

/// `EnclaveRequest ::= SEQUENCE { version INTEGER (1), call CHOICE { … } }`, the numbers below.
extension EnclaveRequest: DERReadable, DERWritable {
    package static let version: Int64 = 1
    package static let wrappedBytesMax = 512
    package static let reasonBytesMax = 1024

    package init(from fields: inout DERFields) throws {
        try fields.version(Self.version)
        let number = try fields.choice("call")
        guard let call = try fields.optional(number, "call", { try Self.call(number, &$0) }) else { throw DERFault("call is missing") }
        self = call
    }

    private static func call(_ number: UInt, _ call: inout DERFields) throws -> EnclaveRequest {
        switch number {
        case 0: return .registerCaller
        case 1: return .seal(try call.value("row"))
        case 2:
            return .open(
                try call.value("row"), wrapped: try call.octets("wrapped key", in: 1...wrappedBytesMax),
                reason: try call.optionalText(0, "reason", max: reasonBytesMax), mayAsk: try call.boolean("may ask"))
        case 3: return .lease
        case 10: return .status
        case 11:
            guard let purpose = PasscodePurpose(rawValue: try call.integer("purpose", in: 1...255)), purpose != .prompt else {
                throw DERFault("purpose is unknown")
            }
            return .challenge(purpose)
        case 12: return .setPasscode(try call.value("challenge"), new: try call.value("passcode"))
        case 13: return .changePasscode(try call.value("challenge"), old: try call.value("passcode"), new: try call.value("passcode"))
        case 14: return .unlock(try call.value("challenge"), try call.value("passcode"))
        case 15: return .lock
        case 16: return .canEvaluate(try policy(&call))
        case 17: return .evaluate(try policy(&call), reason: try call.text("reason", max: reasonBytesMax))
        default: throw Refusal(.unknownRequest, "enclave request \(number) is not known to version \(version)")
        }
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
            case .registerCaller: fields.tagged(0) { _ in }
            case .seal(let row): try fields.tagged(1) { try $0.value(row) }
            case .open(let row, let wrapped, let reason, let mayAsk):
                try fields.tagged(2) { call in
                    try call.value(row)
                    try call.octets(wrapped)
                    try call.optionalText(0, reason)
                    try call.boolean(mayAsk)
                }
            case .lease: fields.tagged(3) { _ in }
            case .status: fields.tagged(10) { _ in }
            case .challenge(let purpose): try fields.tagged(11) { try $0.integer(purpose.rawValue) }
            case .setPasscode(let challenge, let new): try fields.tagged(12) { try $0.value(challenge); try $0.value(new) }
            case .changePasscode(let challenge, let old, let new):
                try fields.tagged(13) { try $0.value(challenge); try $0.value(old); try $0.value(new) }
            case .unlock(let challenge, let passcode): try fields.tagged(14) { try $0.value(challenge); try $0.value(passcode) }
            case .lock: fields.tagged(15) { _ in }
            case .canEvaluate(let policy): try fields.tagged(16) { try $0.integer(policy.rawValue) }
            case .evaluate(let policy, let reason): try fields.tagged(17) { try $0.integer(policy.rawValue); try $0.text(reason) }
            }
        }
    }
}
