// The door of authd for callers and for prompt agents (Specs/authentication-wire.md).

package import SwiftASN1
package import VaubanAccessPolicy
package import VaubanDER

/// The role that a client names in its greeting.
package enum AuthenticationRole: Int64, Sendable {
    case caller = 0
    case agent = 1
    case watcher = 2
}

/// What a caller asks of authd. Passcodes come sealed to the enclave and bound to a challenge.
package enum AuthenticationRequest: Hashable, Sendable {
    case status
    case challenge(PasscodePurpose)
    case setPasscode(PasscodeChallenge, new: SealedPasscode, recoveryKey: SealedPasscode?)
    case changePasscode(PasscodeChallenge, old: SealedPasscode, new: SealedPasscode, rolls: Bool)
    case unlock(PasscodeChallenge, SealedPasscode)
    case lock
    case canEvaluate(OwnerPolicy)
    /// Shows the person the reason and waits for the answer.
    case evaluate(Evaluation)
    case removePasscode(PasscodeChallenge, SealedPasscode)
    /// Makes a new, empty keychain of this one. Without a passcode only where none is set or ten tries were wrong.
    case erase(PasscodeChallenge, SealedPasscode?)
    case recover(PasscodeChallenge, recoveryKey: SealedPasscode, new: SealedPasscode, newRecoveryKey: SealedPasscode?)
    case setRecoveryKey(PasscodeChallenge, SealedPasscode, recoveryKey: SealedPasscode?)
    case configure(PasscodeChallenge, SealedPasscode, LockSettings)
    /// Waits for the person at the reader.
    case enrol(PasscodeChallenge, SealedPasscode, unlocks: Bool)
    case forgetFingers(PasscodeChallenge, SealedPasscode)
    /// Waits for the person at the reader.
    case unlockByFinger
    case listFingers(PasscodeChallenge, SealedPasscode)
    /// What the person could answer with now; asks nobody.
    case environment
}

/// `AuthenticationRequest ::= SEQUENCE { version INTEGER (1), call CHOICE { status [0], challenge [1], setPasscode [2],
///   changePasscode [3], unlock [4], lock [5], canEvaluate [6], evaluate [7], removePasscode [8], erase [9], recover [10],
///   setRecoveryKey [11], configure [12], enrol [13], forgetFingers [14], unlockByFinger [15], environment [16],
///   listFingers [29] } }`
extension AuthenticationRequest: DERReadable, DERWritable {
    package static let version: Int64 = 1

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
            case 2: return .setPasscode(try call.value("challenge"), new: try call.value("passcode"), recoveryKey: try call.optionalSeal(0))
            case 3:
                return .changePasscode(
                    try call.value("challenge"), old: try call.value("passcode"), new: try call.value("passcode"), rolls: try call.boolean("rolls"))
            case 4: return .unlock(try call.value("challenge"), try call.value("passcode"))
            case 5: return .lock
            case 6: return .canEvaluate(try Self.policy(&call))
            case 7: return .evaluate(try call.value("evaluation"))
            case 8: return .removePasscode(try call.value("challenge"), try call.value("passcode"))
            case 9: return .erase(try call.value("challenge"), try call.optionalSeal(0))
            case 10:
                return .recover(
                    try call.value("challenge"), recoveryKey: try call.value("recovery key"), new: try call.value("passcode"),
                    newRecoveryKey: try call.optionalSeal(0))
            case 11: return .setRecoveryKey(try call.value("challenge"), try call.value("passcode"), recoveryKey: try call.optionalSeal(0))
            case 12: return .configure(try call.value("challenge"), try call.value("passcode"), try call.value("settings"))
            case 13: return .enrol(try call.value("challenge"), try call.value("passcode"), unlocks: try call.boolean("unlocks"))
            case 14: return .forgetFingers(try call.value("challenge"), try call.value("passcode"))
            case 15: return .unlockByFinger
            case 16: return .environment
            case 29: return .listFingers(try call.value("challenge"), try call.value("passcode"))
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
            case .setPasscode(let challenge, let new, let recoveryKey):
                try fields.tagged(2) { try $0.value(challenge); try $0.value(new); try $0.optionalSeal(0, recoveryKey) }
            case .changePasscode(let challenge, let old, let new, let rolls):
                try fields.tagged(3) { try $0.value(challenge); try $0.value(old); try $0.value(new); try $0.boolean(rolls) }
            case .unlock(let challenge, let passcode):
                try fields.tagged(4) { try $0.value(challenge); try $0.value(passcode) }
            case .lock: fields.tagged(5) { _ in }
            case .canEvaluate(let policy): try fields.tagged(6) { try $0.integer(policy.rawValue) }
            case .evaluate(let evaluation): try fields.tagged(7) { try $0.value(evaluation) }
            case .environment: fields.tagged(16) { _ in }
            default: try writeUpkeep(into: &fields)
            }
        }
    }

    /// What changes the passcode's place in the keychain, or what locks it.
    private func writeUpkeep(into fields: inout DER.Serializer) throws {
        switch self {
        case .removePasscode(let challenge, let passcode): try fields.tagged(8) { try $0.value(challenge); try $0.value(passcode) }
        case .erase(let challenge, let passcode): try fields.tagged(9) { try $0.value(challenge); try $0.optionalSeal(0, passcode) }
        case .recover(let challenge, let recoveryKey, let new, let newRecoveryKey):
            try fields.tagged(10) {
                try $0.value(challenge); try $0.value(recoveryKey); try $0.value(new); try $0.optionalSeal(0, newRecoveryKey)
            }
        case .setRecoveryKey(let challenge, let passcode, let recoveryKey):
            try fields.tagged(11) { try $0.value(challenge); try $0.value(passcode); try $0.optionalSeal(0, recoveryKey) }
        case .configure(let challenge, let passcode, let settings):
            try fields.tagged(12) { try $0.value(challenge); try $0.value(passcode); try $0.value(settings) }
        case .enrol(let challenge, let passcode, let unlocks):
            try fields.tagged(13) { try $0.value(challenge); try $0.value(passcode); try $0.boolean(unlocks) }
        case .forgetFingers(let challenge, let passcode): try fields.tagged(14) { try $0.value(challenge); try $0.value(passcode) }
        case .unlockByFinger: fields.tagged(15) { _ in }
        case .listFingers(let challenge, let passcode): try fields.tagged(29) { try $0.value(challenge); try $0.value(passcode) }
        case .status, .challenge, .setPasscode, .changePasscode, .unlock, .lock, .canEvaluate, .evaluate, .environment: break
        }
    }
}
