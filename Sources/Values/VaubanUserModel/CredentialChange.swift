package import VaubanDER
internal import VaubanRefusal

/// A change of credentials or of automatic locking for which the enclave itself can prompt. The prompt shows it, and the passcode's seal is
/// bound to it (`SealBinding`). A new secret is part of the answer: the caller neither has nor sees it.
///
/// `CredentialChange ::= SEQUENCE { change CHOICE { configure [0], enroll [1], forgetFingers [2], endRecoveryKey [3], changePasscode [4],
/// makeRecoveryKey [5] } }`
package enum CredentialChange: Hashable, Sendable {
    /// The settings for automatic locking. The change is refused if `before` does not equal the current settings.
    case configure(before: LockSettings, after: LockSettings)
    /// Waits for the user at the reader. With `unlocks`, a fingerprint unlocks from now on.
    case enroll(unlocks: Bool)
    case forgetFingers
    /// Revokes the recovery key; only the passcode then unlocks the keychain.
    case endRecoveryKey
    /// Replaces the passcode by one that the user types at the prompt.
    case changePasscode
    /// Makes a recovery key, which the agent generates and shows once. The previous one is revoked when the new one is confirmed.
    case makeRecoveryKey

    /// Whether the answer contains a new secret besides the passcode.
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
