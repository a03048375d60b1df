// The end of a prompt to unlock: it reports that the passcode was accepted only once that has unlocked.

import Enclave
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

extension Prompt {
    /// Unlocks with the key of the passcode that was entered. A lock after it was entered ends the prompt, like every other prompt.
    func unlock(with gathered: OperationEvidence) throws(Refusal) {
        guard let entered = gathered.passcodeEntered, let key = gathered.passcodeKey.take() else {
            throw Refusal(.authenticationFailed, "no passcode was entered")
        }
        do throws(Refusal) {
            try vault.unlock(withKey: key, enteredAt: entered)
        } catch {
            if error.reason == .locked { end(.expired) }
            throw error
        }
    }
}
