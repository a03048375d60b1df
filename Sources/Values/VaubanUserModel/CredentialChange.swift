package import VaubanDER
internal import VaubanRefusal

/// A change of what opens a keychain, or of when it locks, that the enclave can prompt for by itself. The prompt shows it, and the
/// passcode's seal is bound to it (`SealBinding`). A new secret comes with the answer: the caller neither has nor sees it.
///
/// `CredentialChange ::= SEQUENCE { change CHOICE { configure [0], enroll [1], forgetFingers [2], endRecoveryKey [3], changePasscode [4],
///   makeRecoveryKey [5] } }`
package enum CredentialChange: Hashable, Sendable {
    /// When the keychain locks by itself. `before` are the settings as they are; with others, the change is refused.
    case configure(before: LockSettings, after: LockSettings)
    /// Waits for the user at the reader. With `unlocks`, a fingerprint unlocks from now on.
    case enroll(unlocks: Bool)
    case forgetFingers
    /// Ends the recovery key; the passcode is then the only way in.
    case endRecoveryKey
    /// Replaces the passcode by one that the user types at the prompt.
    case changePasscode
    /// Makes a recovery key, which the prompt's place makes and shows once. An earlier one ends when it is
    /// confirmed.
    case makeRecoveryKey

    /// Whether the answer brings a new secret with the passcode.
    package var takesNewSecret: Bool { self == .changePasscode || self == .makeRecoveryKey }
}

extension CredentialChange: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        let number = try fields.choice("change")
        let change: CredentialChange? = try fields.optional(number, "change") { change in
            switch number {
            case 0: .configure(before: try change.value("settings"), after: try change.value("settings"))
            case 1: .enroll(unlocks: try change.boolean("unlocks"))
            case 2: .forgetFingers
            case 3: .endRecoveryKey
            case 4: .changePasscode
            case 5: .makeRecoveryKey
            default: throw Refusal(.unknownRequest, "change \(number) is not known")
            }
        }
        guard let change else { throw DERError("change is missing") }
        self = change
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            switch self {
            case .configure(let before, let after):
                try fields.tagged(0) {
                    try $0.value(before); try $0.value(after)
                }
            case .enroll(let unlocks): try fields.tagged(1) { try $0.boolean(unlocks) }
            case .forgetFingers: fields.tagged(2) { _ in }
            case .endRecoveryKey: fields.tagged(3) { _ in }
            case .changePasscode: fields.tagged(4) { _ in }
            case .makeRecoveryKey: fields.tagged(5) { _ in }
            }
        }
    }
}
