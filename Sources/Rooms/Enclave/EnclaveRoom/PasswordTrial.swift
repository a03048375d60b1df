// The application password of an item or a private key, for which the user is prompted if the call did not contain it.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// The operation that an entered application password is tried on.
final class PasswordTrial {
    private let attempt: (consuming SecretBytes) throws(Refusal) -> SecretBytes
    private var opened: SecretBytes?

    init(_ attempt: @escaping (consuming SecretBytes) throws(Refusal) -> SecretBytes) { self.attempt = attempt }

    /// Tries a password, and keeps what it opens. Throws `authenticationFailed` if it is wrong.
    func run(_ password: consuming SecretBytes) throws(Refusal) { opened = try attempt(password) }

    func takeOpened() throws(Refusal) -> SecretBytes {
        guard let opened = opened.take() else { throw Refusal(.authenticationFailed) }
        return opened
    }
}

extension CallerConnection {
    /// Prompts for the application password after all other evidence. Allows three attempts, none of which counts as a passcode attempt.
    func finishWithTypedPassword(
        _ opening: PendingOpening, _ gathered: OperationEvidence, reason: String?, for caller: Peer, in vault: Vault
    ) throws(Refusal) -> SecretBytes {
        let requester = requester(for: caller)
        let trial = PasswordTrial { (typed) throws(Refusal) in
            let password: SecretBytes? = typed
            return try vault.finish(opening, gathered, password: password, for: requester)
        }
        let operation = Operation(
            kind: .applicationPassword, requirement: .none, protection: opening.protection, reason: reason, item: opening.item, trial: trial
        )
        try Prompt(connection: self, operation: operation, caller: caller, vault: vault, methods: .passcode).run(gathered)
        return try trial.takeOpened()
    }
}
