package import SwiftASN1
import VaubanDER

/// All of an operation on a person's device except its challenge and the secret that allows it. The seal of that secret
/// (the passcode of now, or a recovery key in its place) is bound to this by HPKE's additional data: whoever carries the
/// request knows the challenge too and can seal secrets of its own for it, but cannot put them beside the person's.
///
/// `CeremonyBinding ::= SEQUENCE { version INTEGER (1), operation CHOICE { … } }`, with the numbers of `EnclaveRequest`
/// (Specs/enclave-wire.md). It is never sent: both sides make it of the request.
package enum CeremonyBinding: Hashable, Sendable, DERWritable {
    /// What allows it is the new passcode: before the first there is nothing else.
    case setPasscode(recoveryKey: SealedPasscode?)
    case changePasscode(new: SealedPasscode, rolls: Bool)
    case removePasscode
    case erase
    /// What allows it is the recovery key of now.
    case recover(new: SealedPasscode, newRecoveryKey: SealedPasscode?)
    case setRecoveryKey(SealedPasscode?)
    case configure(LockSettings)
    case enrol(unlocks: Bool)
    case forgetFingers
    case listFingers
    /// The answer to a question for consent, as it was shown. It is not one of the enclave's requests; what allows it is the
    /// passcode.
    case consent(Consent, ConsentChoice)

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
        case .consent: .prompt
        }
    }

    /// The secrets that come beside the one that allows it, in the order of the request. Their own seals are bound to the
    /// challenge alone.
    package var otherSecrets: [SealedPasscode?] {
        switch self {
        case .setPasscode(let recoveryKey), .setRecoveryKey(let recoveryKey): [recoveryKey]
        case .changePasscode(let new, _): [new]
        case .recover(let new, let newRecoveryKey): [new, newRecoveryKey]
        case .removePasscode, .erase, .configure, .enrol, .forgetFingers, .listFingers, .consent: []
        }
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(1)
            switch self {
            case .setPasscode(let recoveryKey): try fields.tagged(12) { try $0.optionalSeal(0, recoveryKey) }
            case .changePasscode(let new, let rolls): try fields.tagged(13) { try $0.value(new); try $0.boolean(rolls) }
            case .removePasscode: fields.tagged(18) { _ in }
            case .erase: fields.tagged(19) { _ in }
            case .recover(let new, let newRecoveryKey): try fields.tagged(20) { try $0.value(new); try $0.optionalSeal(0, newRecoveryKey) }
            case .setRecoveryKey(let recoveryKey): try fields.tagged(21) { try $0.optionalSeal(0, recoveryKey) }
            case .configure(let settings): try fields.tagged(22) { try $0.value(settings) }
            case .enrol(let unlocks): try fields.tagged(23) { try $0.boolean(unlocks) }
            case .forgetFingers: fields.tagged(24) { _ in }
            case .listFingers: fields.tagged(29) { _ in }
            case .consent(let consent, let choice): try fields.tagged(7) { try $0.value(consent); try $0.integer(choice.rawValue) }
            }
        }
    }
}
