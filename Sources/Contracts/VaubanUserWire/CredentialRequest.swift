package import SwiftASN1
package import VaubanDER
internal import VaubanRefusal
package import VaubanUserModel

/// What a secret of the user's authorizes: a change of what opens the keychain, of when it locks, or of the fingers that count.
/// It is all of the request except its challenge and that one secret, which is sealed for exactly this value (`SealBinding`).
package enum CredentialRequest: Hashable, Sendable {
    /// Authorized by the new passcode itself: before the first there is nothing else.
    case setPasscode(recoveryKey: SealedPasscode?)
    /// With `rolls`, every class key is made anew, and the older ones stay until no row needs them.
    case changePasscode(new: SealedPasscode, rolls: Bool)
    case removePasscode
    /// Makes a new, empty keychain of this one.
    case erase
    /// Authorized by the recovery key of now.
    case recover(new: SealedPasscode, newRecoveryKey: SealedPasscode?)
    /// Another recovery key, or none any more.
    case setRecoveryKey(SealedPasscode?)
    case configure(LockSettings)
    /// Waits for the user at the reader; with `unlocks`, a matched finger unlocks from now on.
    case enrol(unlocks: Bool)
    case forgetFingers
    case listFingers

    /// What its challenge must be for.
    package var purpose: PasscodePurpose {
        switch self {
        case .setPasscode: .set
        case .changePasscode: .change
        case .removePasscode: .remove
        case .erase: .erase
        case .recover: .recover
        case .setRecoveryKey: .recoveryKey
        case .configure: .configure
        case .enrol, .forgetFingers, .listFingers: .enrol
        }
    }

    /// The secrets that come beside the one that authorizes it, in the order of the request. Their own seals are bound to the
    /// challenge alone.
    package var otherSecrets: [SealedPasscode?] {
        switch self {
        case .setPasscode(let recoveryKey), .setRecoveryKey(let recoveryKey): [recoveryKey]
        case .changePasscode(let new, _): [new]
        case .recover(let new, let newRecoveryKey): [new, newRecoveryKey]
        case .removePasscode, .erase, .configure, .enrol, .forgetFingers, .listFingers: []
        }
    }
}

/// `CredentialRequest ::= SEQUENCE { request CHOICE { setPasscode [0], changePasscode [1], removePasscode [2], erase [3],
///   recover [4], setRecoveryKey [5], configure [6], enrol [7], forgetFingers [8], listFingers [9] } }`
extension CredentialRequest: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        let number = try fields.choice("credential request")
        let request = try fields.optional(number, "credential request") { try Self.request(number, &$0) }
        guard let request else { throw DERError("credential request is missing") }
        self = request
    }

    private static func request(_ number: UInt, _ request: inout DERFields) throws -> CredentialRequest {
        switch number {
        case 0: .setPasscode(recoveryKey: try request.optionalSeal(0))
        case 1: .changePasscode(new: try request.value("passcode"), rolls: try request.boolean("rolls"))
        case 2: .removePasscode
        case 3: .erase
        case 4: .recover(new: try request.value("passcode"), newRecoveryKey: try request.optionalSeal(0))
        case 5: .setRecoveryKey(try request.optionalSeal(0))
        case 6: .configure(try request.value("settings"))
        case 7: .enrol(unlocks: try request.boolean("unlocks"))
        case 8: .forgetFingers
        case 9: .listFingers
        default: throw Refusal(.unknownRequest, "credential request \(number) is not known to version \(UserRequest.version)")
        }
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            switch self {
            case .setPasscode(let recoveryKey): try fields.tagged(0) { try $0.optionalSeal(0, recoveryKey) }
            case .changePasscode(let new, let rolls):
                try fields.tagged(1) {
                    try $0.value(new); try $0.boolean(rolls)
                }
            case .removePasscode: fields.tagged(2) { _ in }
            case .erase: fields.tagged(3) { _ in }
            case .recover(let new, let newRecoveryKey):
                try fields.tagged(4) {
                    try $0.value(new); try $0.optionalSeal(0, newRecoveryKey)
                }
            case .setRecoveryKey(let recoveryKey): try fields.tagged(5) { try $0.optionalSeal(0, recoveryKey) }
            case .configure(let settings): try fields.tagged(6) { try $0.value(settings) }
            case .enrol(let unlocks): try fields.tagged(7) { try $0.boolean(unlocks) }
            case .forgetFingers: fields.tagged(8) { _ in }
            case .listFingers: fields.tagged(9) { _ in }
            }
        }
    }
}

/// What a secret that authorizes something is sealed for, beyond its challenge: HPKE's additional data. Whoever carries the secret
/// knows the challenge too and can seal secrets of its own for it, but cannot put them beside the user's.
///
/// `SealBinding ::= SEQUENCE { version INTEGER (2), what CHOICE { credential [0] SEQUENCE { request CredentialRequest },
///   consent [1] SEQUENCE { consent Consent, choice INTEGER } } }`. It is never sent: both sides make it.
package enum SealBinding: Hashable, Sendable, DERWritable {
    case credential(CredentialRequest)
    /// The answer to a question for consent, as it was shown; authorized by the passcode.
    case consent(Consent, ConsentChoice)

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(UserRequest.version)
            switch self {
            case .credential(let request): try fields.tagged(0) { try $0.value(request) }
            case .consent(let consent, let choice):
                try fields.tagged(1) {
                    try $0.value(consent); try $0.integer(choice.rawValue)
                }
            }
        }
    }
}
