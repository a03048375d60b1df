// Changes of credentials for which the user is prompted. What the prompt shows is compared with the keybag before the prompt and again when
// the change is made, so that the answer applies to what the user saw.

internal import VaubanLinuxHost
package import VaubanPasscode
package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanUserModel

/// A change that the user can be prompted for now.
package struct PreparedChange: Sendable {
    package let change: CredentialChange
    /// The epoch in which the change was prepared. A lock or a change of the keys ends the epoch, and with it the change.
    package let epoch: Int64
    /// The public half of the recovery key that exists when the prompt begins.
    fileprivate let recoveryPublicKey: [UInt8]?
}

extension Vault {
    /// Returns the change if it can be made now. Throws if its settings are not the current ones, if it would change where programs may
    /// prompt, or if it would change nothing. Creates no keybag.
    package func prepare(_ change: CredentialChange) throws(Refusal) -> PreparedChange {
        try state.withLock { (state) throws(Refusal) -> PreparedChange in
            state.applyExpirations(host, isUse: false)
            try state.checkReadable()
            guard let bag = state.keybag, bag.passcode != nil else { throw Refusal(.passcodeNotSet) }
            switch change {
            case .configure(let before, let after):
                try bag.checkSettings(are: before)
                guard after.allowsTerminalPrompts == before.allowsTerminalPrompts else {
                    throw Refusal(.badParameter, "Prompts on terminals are allowed in a terminal: vauban allow terminal-prompts")
                }
                guard after != before else { throw Refusal(.badParameter, "These settings are already in effect") }
            case .enroll: guard host.reader.isPresent else { throw Refusal(.biometryNotAvailable) }
            case .forgetFingers:
                guard bag.enrollment != nil else { throw Refusal(.biometryNotEnrolled) }
                // A reader that is not connected would keep the fingers.
                guard host.reader.isPresent else { throw Refusal(.biometryNotAvailable) }
            case .endRecoveryKey: guard bag.recovery != nil else { throw Refusal(.recoveryKeyNotSet) }
            case .changePasscode, .makeRecoveryKey: break
            }
            return PreparedChange(change: change, epoch: state.epoch, recoveryPublicKey: bag.recovery?.publicKey)
        }
    }

    /// Changes when the keychain locks, if the settings are still those that the prompt showed, and it was not locked since `epoch`.
    package func configure(
        _ settings: LockSettings, replacing before: LockSettings, passcodeKey: borrowing SecretBytes, since epoch: Int64? = nil
    ) throws(Refusal) {
        try changeKeybag(since: epoch) { (bag) throws(Refusal) in
            try bag.checkPasscodeUnchanged(since: passcodeKey)
            try bag.checkSettings(are: before)
            bag.settings = settings
        }
    }

    /// Ends the recovery key, and an earlier one that is still valid. Throws if the key is not the one that existed when the prompt began,
    /// or if the keychain was locked since then.
    package func endRecoveryKey(_ prepared: PreparedChange, passcodeKey: borrowing SecretBytes) throws(Refusal) {
        try changeKeybag(since: prepared.epoch) { (bag) throws(Refusal) in
            try bag.checkPasscodeUnchanged(since: passcodeKey)
            try bag.checkRecoveryKey(is: prepared.recoveryPublicKey)
            bag.endRecoveryKeys()
        }
    }

    /// Makes a recovery key, if the key that existed when the prompt began still exists and the keychain was not locked since then. The
    /// previous one is valid until the new one is confirmed. Returns the new one's public half.
    @discardableResult
    package func makeRecoveryKey(
        _ recoveryKey: borrowing RecoveryKey, _ prepared: PreparedChange, passcodeKey: borrowing SecretBytes
    ) throws(Refusal) -> [UInt8] {
        var made: [UInt8] = []
        try changeKeybag(since: prepared.epoch) { (bag) throws(Refusal) in
            try bag.checkPasscodeUnchanged(since: passcodeKey)
            try bag.checkRecoveryKey(is: prepared.recoveryPublicKey)
            let publicKey = try bag.publicKey(ofKey: recoveryKey)
            bag.addRecoveryKey(try bag.sealed(passcodeKey, to: publicKey, host.backend))
            made = publicKey
        }
        return made
    }
}

extension Keybag {
    fileprivate func checkRecoveryKey(is publicKey: [UInt8]?) throws(Refusal) {
        guard recovery?.publicKey == publicKey else { throw Refusal(.keysChanged, "The recovery key was changed meanwhile; try again") }
    }

    fileprivate func checkSettings(are expected: LockSettings) throws(Refusal) {
        guard settings == expected else { throw Refusal(.keysChanged, "The settings were changed meanwhile; look at them again") }
    }
}
