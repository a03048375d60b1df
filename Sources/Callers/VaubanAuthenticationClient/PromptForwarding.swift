import Glibc
package import VaubanUserModel
import VaubanUserWire

/// Forwards prompts to the user's other devices (Specs/forwarded-prompts.md). Answers arrive already sealed to this device's enclave.
package protocol PromptForwarding: AnyObject {
    /// Forwards a prompt and waits for its answer. While waiting it must watch `withdrawal` too. Returns nil once the prompt is withdrawn.
    func answer(_ request: PromptRequest, to card: EnclaveKeyCard, withdrawal: any Withdrawal) -> PromptAnswer?

    /// Called when the last prompt has ended. Must not wait.
    func handleOutcome(_ outcome: PromptOutcome)
}

extension PromptAnswer {
    /// Seals the user's response for the enclave that sent the prompt; nil if the prompt was withdrawn. A response that cannot be sealed,
    /// or does not answer this prompt, is `cancelled`. A new passcode is sealed by the agent, which alone takes changes of credentials.
    /// - Parameter user: The user whom the prompt is for, on the device of that enclave.
    package init?(
        _ response: consuming PromptResponse, to request: PromptRequest, sealedTo card: EnclaveKeyCard, user: UInt32 = geteuid()
    ) {
        self = .cancelled
        switch consume response {
        case .passcode(let passcode):
            let binding = SealBinding.ofAnswer(holding: request.hold, making: request.change)
            let sealed = try? SealedPasscode(passcode, to: card, for: request.challenge, authorizing: binding, user: user)
            if let sealed { self = .passcode(sealed) }
        case .consent(let passcode, let choice):
            // A choice without a consent prompt permits nothing.
            guard let consent = request.consent else { return }
            let binding = SealBinding.consent(consent, choice)
            let sealed = try? SealedPasscode(passcode, to: card, for: request.challenge, authorizing: binding, user: user)
            if let sealed { self = .consent(sealed, choice) }
        case .newPasscode: return
        case .cancelled: return
        case .fallback: self = .fallback
        case .withdrawn: return nil
        }
    }
}
