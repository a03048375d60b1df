// A change by a prompt that needs a new secret, which arrives sealed together with the passcode.

import Enclave
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// How the new secret of an answer is used while the prompt is still shown. The prompt agent is told that the change is made only once it
/// is durable.
final class SecretChange {
    private let check: (borrowing SecretBytes) throws(Refusal) -> Void
    private let make: (borrowing SecretBytes, borrowing SecretBytes) throws(Refusal) -> Void
    /// What to do once the user has confirmed to have the secret; nil if the secret is not shown.
    private let confirm: (() throws(Refusal) -> Void)?
    private(set) var isMade = false

    /// Whether the prompt agent that made the secret shows it after the change.
    var showsSecret: Bool { confirm != nil }

    private init(
        check: @escaping (borrowing SecretBytes) throws(Refusal) -> Void,
        make: @escaping (borrowing SecretBytes, borrowing SecretBytes) throws(Refusal) -> Void,
        confirm: (() throws(Refusal) -> Void)? = nil
    ) {
        self.check = check
        self.make = make
        self.confirm = confirm
    }

    /// Throws if the new secret cannot be accepted. Called before any passcode is compared, so that this costs no attempt.
    func checkSecret(_ new: borrowing SecretBytes) throws(Refusal) { try check(new) }

    /// Makes the change with the key of the passcode.
    func run(_ passcodeKey: borrowing SecretBytes, _ new: borrowing SecretBytes) throws(Refusal) {
        try make(passcodeKey, new)
        isMade = true
    }

    /// Called when the user has confirmed to have the secret.
    func confirmSeen() throws(Refusal) { try confirm?() }

    /// Returns how a change is made, or nil if it takes no new secret.
    static func of(_ prepared: PreparedChange, in vault: Vault, for requester: DerivationRequester) -> SecretChange? {
        switch prepared.change {
        case .changePasscode:
            SecretChange { (new) throws(Refusal) in
                try vault.checkStrength(new)
            } make: { (key, new) throws(Refusal) in
                try vault.changePasscode(withKey: key, to: new, since: prepared.epoch, for: requester)
            }
        case .makeRecoveryKey: ofRecoveryKey(prepared, in: vault)
        case .configure, .enroll, .forgetFingers, .endRecoveryKey: nil
        }
    }

    /// The key is known by its public half once it is made, so that it need not be kept until the user has it.
    private static func ofRecoveryKey(_ prepared: PreparedChange, in vault: Vault) -> SecretChange {
        var made: [UInt8]?
        return SecretChange { (new) throws(Refusal) in
            _ = try recoveryKey(new)
        } make: { (key, new) throws(Refusal) in
            made = try vault.makeRecoveryKey(try recoveryKey(new), prepared, passcodeKey: key)
        } confirm: { () throws(Refusal) in
            try vault.confirmRecoveryKey(withPublicKey: made)
        }
    }

    private static func recoveryKey(_ digits: borrowing SecretBytes) throws(Refusal) -> RecoveryKey {
        do throws(RecoveryKeyError) { return try RecoveryKey(typed: digits) } catch {
            throw Refusal(.badParameter, "The new recovery key is malformed")
        }
    }

    /// The refusal if a recovery key was made that the user may not have seen.
    static let notSeen = Refusal(
        .keysChanged,
        "A new recovery key was made, but nobody confirmed having it. If you have it: vauban passcode recovery-key --confirm. Otherwise "
            + "make another; an earlier one works until then")

    /// The refusal if the recovery keys were changed while the new one was shown.
    static let changedMeanwhile = Refusal(
        .keysChanged, "The recovery key was changed or ended while this one was shown; make another")
}
