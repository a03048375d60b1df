// The recovery keys of a keybag: the newest, and the previous one until the user has confirmed to have the newest.

import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes

extension Keybag {
    mutating func endRecoveryKeys() { (recovery, earlierRecovery) = (nil, nil) }

    /// Adds a recovery key. The previous one works until the user has confirmed to have this one. One that was never confirmed ends now.
    mutating func addRecoveryKey(_ new: RecoveryRecord) {
        earlierRecovery = earlierRecovery ?? recovery
        recovery = new
    }

    /// Returns the passcode key, opened by a valid recovery key. Throws if this one is not valid.
    func passcodeKey(
        recoveredWith recoveryKey: borrowing RecoveryKey, _ backend: some EnclaveBackend
    ) throws(Refusal) -> SecretBytes {
        guard passcode != nil, let recovery else { throw Refusal(.recoveryKeyNotSet) }
        do throws(Refusal) {
            return try open(recovery, with: recoveryKey, backend)
        } catch {
            guard let earlierRecovery else { throw error }
            return try open(earlierRecovery, with: recoveryKey, backend)
        }
    }

    /// Ends an earlier recovery key. Throws if the given one is not the newest.
    mutating func confirm(_ recoveryKey: borrowing RecoveryKey, _ backend: some EnclaveBackend) throws(Refusal) {
        guard passcode != nil, let recovery else { throw Refusal(.recoveryKeyNotSet) }
        do throws(Refusal) {
            _ = try open(recovery, with: recoveryKey, backend)
        } catch {
            guard let earlierRecovery else { throw error }
            _ = try open(earlierRecovery, with: recoveryKey, backend)
            throw Refusal(.authenticationFailed, "this is the earlier recovery key, not the newest")
        }
        earlierRecovery = nil
    }

    /// Seals the current passcode key to a recovery key.
    func sealed(
        _ passcodeKey: borrowing SecretBytes, to publicKey: [UInt8], _ backend: some EnclaveBackend
    ) throws(Refusal) -> RecoveryRecord {
        let deviceKey = try deviceKey(backend)
        do throws(WrapError) {
            return try RecoveryRecord(passcodeKey, to: publicKey, device: deviceKey, for: self)
        } catch {
            throw Refusal(.internalError, "the recovery key cannot be kept")
        }
    }

    /// Returns the passcode key that a recovery key opens.
    private func open(
        _ recovery: RecoveryRecord, with recoveryKey: borrowing RecoveryKey, _ backend: some EnclaveBackend
    ) throws(Refusal) -> SecretBytes {
        let deviceKey = try deviceKey(backend)
        do throws(WrapError) { return try recovery.open(with: recoveryKey, device: deviceKey, for: self) } catch {
            throw Refusal(.authenticationFailed, "the recovery key is wrong")
        }
    }

    // MARK: Public halves

    func publicKey(of recoveryKey: borrowing RecoveryKey?) throws(Refusal) -> [UInt8]? {
        switch recoveryKey {
        case .none: return nil
        case .some(let key): return try publicKey(ofKey: key)
        }
    }

    func publicKey(ofKey recoveryKey: borrowing RecoveryKey) throws(Refusal) -> [UInt8] {
        do throws(WrapError) { return try RecoveryRecord.publicKey(of: recoveryKey, for: self) } catch {
            throw Refusal(.internalError, "the recovery key cannot be used")
        }
    }
}
