// A change by a prompt that takes a new secret, which comes sealed with the passcode.

import Enclave
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// What is done with the new secret of an answer, while the prompt is still shown: its place is told that the change is made only once it
/// is durable.
final class SecretChange {
    private let check: (borrowing SecretBytes) throws(Refusal) -> Void
    private let make: (borrowing SecretBytes, borrowing SecretBytes) throws(Refusal) -> Void
    /// Whether the place that made the secret shows it after the change.
    let showsSecret: Bool
    private(set) var isMade = false

    private init(
        showsSecret: Bool, check: @escaping (borrowing SecretBytes) throws(Refusal) -> Void,
        make: @escaping (borrowing SecretBytes, borrowing SecretBytes) throws(Refusal) -> Void
    ) {
        self.showsSecret = showsSecret
        self.check = check
        self.make = make
    }

    /// Throws if the new secret cannot be accepted, before any passcode is compared: it costs no attempt.
    func checkSecret(_ new: borrowing SecretBytes) throws(Refusal) { try check(new) }

    /// Makes the change with the key of the passcode.
    func run(_ passcodeKey: borrowing SecretBytes, _ new: borrowing SecretBytes) throws(Refusal) {
        try make(passcodeKey, new)
        isMade = true
    }

    /// Returns how a change is made, or nil if it takes no new secret.
    static func of(_ prepared: PreparedChange, in vault: Vault, for requester: DerivationRequester) -> SecretChange? {
        switch prepared.change {
        case .changePasscode:
            SecretChange(showsSecret: false) { (new) throws(Refusal) in
                try vault.checkStrength(new)
            } make: { (key, new) throws(Refusal) in
                try vault.changePasscode(withKey: key, to: new, since: prepared.epoch, for: requester)
            }
        case .makeRecoveryKey:
            SecretChange(showsSecret: true) { (new) throws(Refusal) in
                _ = try recoveryKey(new)
            } make: { (key, new) throws(Refusal) in
                try vault.makeRecoveryKey(try recoveryKey(new), prepared, passcodeKey: key)
            }
        case .configure, .enroll, .forgetFingers, .endRecoveryKey: nil
        }
    }

    private static func recoveryKey(_ digits: borrowing SecretBytes) throws(Refusal) -> RecoveryKey {
        do throws(RecoveryKeyError) { return try RecoveryKey(typed: digits) } catch {
            throw Refusal(.badParameter, "The new recovery key has another form")
        }
    }

    /// The refusal after a recovery key was made that nobody may have seen.
    static let notSeen = Refusal(
        .keysChanged,
        "A new recovery key was set, but nobody confirmed having written it down. Any earlier key no longer works. Make another")
}
