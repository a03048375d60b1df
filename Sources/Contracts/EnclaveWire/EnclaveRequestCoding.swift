package import SwiftASN1
internal import VaubanAccessPolicy
package import VaubanDER

/// `EnclaveRequest ::= SEQUENCE { version INTEGER (1), call CHOICE { … } }`, the numbers below.
extension EnclaveRequest: DERReadable, DERWritable {
    package static let version: Int64 = 1
    package static let wrappedBytesMax = 2048
    package static let reasonBytesMax = 1024
    package static let retiredMax = 64

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
                reason: try call.optionalText(0, "reason", max: reasonBytesMax), mayAsk: try call.boolean("may ask"),
                authorisation: try call.optionalOctets(1, "authorisation", in: EvaluationResult.handleBytes...EvaluationResult.handleBytes))
        case 3: return .lease
        case 4:
            return .rewrap(
                try call.value("row"), wrapped: try call.octets("wrapped key", in: 1...wrappedBytesMax),
                generation: try call.octets("generation", in: 8...8))
        case 5: return .retire(try call.list("keys", max: retiredMax))
        case 6: return .fate(try call.value("key"))
        case 7: return .consent(try call.value("consent"), reason: try call.optionalText(0, "reason", max: reasonBytesMax))
        case 8: return .identify
        case 9: return .handOver
        case 10...26, 29: return try personal(number, &call)
        default: throw Refusal(.unknownRequest, "enclave request \(number) is not known to version \(version)")
        }
    }

    /// The requests of authd.
    private static func personal(_ number: UInt, _ call: inout DERFields) throws -> EnclaveRequest {
        switch number {
        case 10: return .status
        case 11:
            guard let purpose = PasscodePurpose(rawValue: try call.integer("purpose", in: 1...255)), purpose != .prompt else {
                throw DERFault("purpose is unknown")
            }
            return .challenge(purpose)
        case 12: return .setPasscode(try call.value("challenge"), new: try call.value("passcode"), recoveryKey: try call.optionalSeal(0))
        case 13:
            return .changePasscode(
                try call.value("challenge"), old: try call.value("passcode"), new: try call.value("passcode"), rolls: try call.boolean("rolls"))
        case 14: return .unlock(try call.value("challenge"), try call.value("passcode"))
        case 15: return .lock
        case 16: return .canEvaluate(try policy(&call))
        case 17: return .evaluate(try call.value("evaluation"))
        case 18: return .removePasscode(try call.value("challenge"), try call.value("passcode"))
        case 19: return .erase(try call.value("challenge"), try call.optionalSeal(0))
        case 20:
            return .recover(
                try call.value("challenge"), recoveryKey: try call.value("recovery key"), new: try call.value("passcode"),
                newRecoveryKey: try call.optionalSeal(0))
        case 21: return .setRecoveryKey(try call.value("challenge"), try call.value("passcode"), recoveryKey: try call.optionalSeal(0))
        case 22: return .configure(try call.value("challenge"), try call.value("passcode"), try call.value("settings"))
        case 23: return .enrol(try call.value("challenge"), try call.value("passcode"), unlocks: try call.boolean("unlocks"))
        case 24: return .forgetFingers(try call.value("challenge"), try call.value("passcode"))
        case 29: return .listFingers(try call.value("challenge"), try call.value("passcode"))
        case 26: return .environment
        default: return .unlockByFinger
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
            case .open(let row, let wrapped, let reason, let mayAsk, let authorisation):
                try fields.tagged(2) { call in
                    try call.value(row)
                    try call.octets(wrapped)
                    try call.optionalText(0, reason)
                    try call.boolean(mayAsk)
                    try call.optionalOctets(1, authorisation)
                }
            case .lease: fields.tagged(3) { _ in }
            case .rewrap(let row, let wrapped, let generation):
                try fields.tagged(4) { try $0.value(row); try $0.octets(wrapped); try $0.octets(generation) }
            case .retire(let keys): try fields.tagged(5) { try $0.list(keys) }
            case .fate(let key): try fields.tagged(6) { try $0.value(key) }
            case .consent(let consent, let reason): try fields.tagged(7) { try $0.value(consent); try $0.optionalText(0, reason) }
            case .identify: fields.tagged(8) { _ in }
            case .handOver: fields.tagged(9) { _ in }
            default: try writePersonal(into: &fields)
            }
        }
    }

    private func writePersonal(into fields: inout DER.Serializer) throws {
        switch self {
        case .registerCaller, .seal, .open, .lease, .rewrap, .retire, .fate, .consent, .identify, .handOver: break
        case .status: fields.tagged(10) { _ in }
        case .challenge(let purpose): try fields.tagged(11) { try $0.integer(purpose.rawValue) }
        case .setPasscode(let challenge, let new, let recoveryKey):
            try fields.tagged(12) { try $0.value(challenge); try $0.value(new); try $0.optionalSeal(0, recoveryKey) }
        case .changePasscode(let challenge, let old, let new, let rolls):
            try fields.tagged(13) { try $0.value(challenge); try $0.value(old); try $0.value(new); try $0.boolean(rolls) }
        case .unlock(let challenge, let passcode): try fields.tagged(14) { try $0.value(challenge); try $0.value(passcode) }
        case .lock: fields.tagged(15) { _ in }
        case .canEvaluate(let policy): try fields.tagged(16) { try $0.integer(policy.rawValue) }
        case .evaluate(let evaluation): try fields.tagged(17) { try $0.value(evaluation) }
        case .removePasscode(let challenge, let passcode): try fields.tagged(18) { try $0.value(challenge); try $0.value(passcode) }
        case .erase(let challenge, let passcode): try fields.tagged(19) { try $0.value(challenge); try $0.optionalSeal(0, passcode) }
        case .recover(let challenge, let recoveryKey, let new, let newRecoveryKey):
            try fields.tagged(20) {
                try $0.value(challenge); try $0.value(recoveryKey); try $0.value(new); try $0.optionalSeal(0, newRecoveryKey)
            }
        case .setRecoveryKey(let challenge, let passcode, let recoveryKey):
            try fields.tagged(21) { try $0.value(challenge); try $0.value(passcode); try $0.optionalSeal(0, recoveryKey) }
        case .configure(let challenge, let passcode, let settings):
            try fields.tagged(22) { try $0.value(challenge); try $0.value(passcode); try $0.value(settings) }
        case .enrol(let challenge, let passcode, let unlocks):
            try fields.tagged(23) { try $0.value(challenge); try $0.value(passcode); try $0.boolean(unlocks) }
        case .forgetFingers(let challenge, let passcode): try fields.tagged(24) { try $0.value(challenge); try $0.value(passcode) }
        case .unlockByFinger: fields.tagged(25) { _ in }
        case .environment: fields.tagged(26) { _ in }
        case .listFingers(let challenge, let passcode): try fields.tagged(29) { try $0.value(challenge); try $0.value(passcode) }
        }
    }
}

/// Names one key of the keybag: `KeyName ::= SEQUENCE { purpose INTEGER, generation OCTET STRING (SIZE (8)) }`.
package struct KeyName: Hashable, Sendable, DERReadable, DERWritable {
    package let purpose: Int64
    package let generation: [UInt8]

    package init(purpose: Int64, generation: [UInt8]) {
        self.purpose = purpose
        self.generation = generation
    }

    package init(from fields: inout DERFields) throws {
        purpose = try fields.integer("purpose", in: 1...255)
        generation = try fields.octets("generation", in: 8...8)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(purpose)
            try fields.octets(generation)
        }
    }
}
