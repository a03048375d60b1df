package import VaubanDER
internal import VaubanRefusal
package import VaubanUserModel

/// A request that a secret of the user authorizes: a change of what opens the keychain, of when it locks, or of the enrolled fingers. It is
/// the whole request except its challenge and that one secret, which is sealed for exactly this value (`SealBinding`).
package enum CredentialRequest: Hashable, Sendable {
    /// Authorized by the new passcode itself, since there is no other secret yet.
    case setPasscode(recoveryKey: SealedPasscode?)
    /// With `rolls`, all class keys are renewed; the older ones stay until no row needs them.
    case changePasscode(new: SealedPasscode, rolls: Bool)
    case removePasscode
    /// Replaces the keychain by a new, empty one.
    case erase
    /// Authorized by the current recovery key.
    case recover(new: SealedPasscode, newRecoveryKey: SealedPasscode?)
    /// Sets a recovery key, beside which the previous one stays valid until this one is confirmed; nil revokes the recovery key.
    case setRecoveryKey(SealedPasscode?)
    /// Revokes the previous recovery key. Authorized by the newest one.
    case confirmRecoveryKey
    case configure(LockSettings)
    /// Waits for the user at the reader. With `unlocks`, a fingerprint unlocks from now on.
    case enroll(unlocks: Bool)
    case forgetFingers
    case listFingers

    /// The purpose that its challenge must have.
    package var purpose: PasscodePurpose {
        switch self {
        case .setPasscode: .set
        case .changePasscode: .change
        case .removePasscode: .remove
        case .erase: .erase
        case .recover: .recover
        case .setRecoveryKey, .confirmRecoveryKey: .recoveryKey
        case .configure: .configure
        case .enroll, .forgetFingers, .listFingers: .enroll
        }
    }

    /// The secrets besides the one that authorizes the request, in the request's order. Their own seals are bound to the challenge alone.
    package var otherSecrets: [SealedPasscode?] {
        switch self {
        case .setPasscode(let recoveryKey), .setRecoveryKey(let recoveryKey): [recoveryKey]
        case .changePasscode(let new, _): [new]
        case .recover(let new, let newRecoveryKey): [new, newRecoveryKey]
        case .removePasscode, .erase, .confirmRecoveryKey, .configure, .enroll, .forgetFingers, .listFingers: []
        }
    }
}

/// `CredentialRequest ::= SEQUENCE { request CHOICE { setPasscode [0], changePasscode [1], removePasscode [2], erase [3],
///   recover [4], setRecoveryKey [5], configure [6], enroll [7], forgetFingers [8], listFingers [9],
///   confirmRecoveryKey [10] } }`
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
        case 7: .enroll(unlocks: try request.boolean("unlocks"))
        case 8: .forgetFingers
        case 9: .listFingers
        case 10: .confirmRecoveryKey
        default: throw Refusal(.unknownRequest, "credential request \(number) is not known to version \(UserRequest.version)")
        }
    }

    package func write(into der: inout DERWriter) throws {
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
            case .enroll(let unlocks): try fields.tagged(7) { try $0.boolean(unlocks) }
            case .forgetFingers: fields.tagged(8) { _ in }
            case .listFingers: fields.tagged(9) { _ in }
            case .confirmRecoveryKey: fields.tagged(10) { _ in }
            }
        }
    }
}

/// The purpose of a sealed secret, beyond its challenge, if it authorizes something: HPKE's additional data. A process that relays the
/// secret has the challenge too and can seal its own secrets for it, but cannot combine them with the user's.
///
/// `SealBinding ::= SEQUENCE { version INTEGER (2), what CHOICE { credential [0] SEQUENCE { request CredentialRequest }, consent [1]
/// SEQUENCE { consent Consent, choice INTEGER }, hold [2] SEQUENCE { hold PromptHold }, change [3] SEQUENCE { change CredentialChange, new
/// [0] SealedPasscode OPTIONAL } } }`. It is never sent: both sides compute it.
package enum SealBinding: Hashable, Sendable, DERWritable {
    case credential(CredentialRequest)
    /// The answer to a prompt for consent, as it was shown; authorized by the passcode.
    case consent(Consent, ConsentChoice)
    /// The answer to a prompt that states for what the passcode holds.
    case hold(PromptHold)
    /// The answer to a prompt for a change, as it was shown, with the new secret as sealed, if the change takes one.
    case change(CredentialChange, new: SealedPasscode? = nil)

    /// Returns the binding of the passcode that answers a prompt without a choice; nil if the challenge alone states what it authorizes.
    package static func ofAnswer(holding hold: PromptHold?, making change: CredentialChange?, new: SealedPasscode? = nil) -> SealBinding? {
        hold.map(Self.hold) ?? change.map { .change($0, new: new) }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(UserRequest.version)
            switch self {
            case .credential(let request): try fields.tagged(0) { try $0.value(request) }
            case .consent(let consent, let choice):
                try fields.tagged(1) {
                    try $0.value(consent); try $0.integer(choice.rawValue)
                }
            case .hold(let hold): try fields.tagged(2) { try $0.value(hold) }
            case .change(let change, let new):
                try fields.tagged(3) {
                    try $0.value(change); try $0.optionalSeal(0, new)
                }
            }
        }
    }
}
