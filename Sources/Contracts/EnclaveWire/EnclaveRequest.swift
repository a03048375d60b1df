package import VaubanAccessPolicy

/// What a room asks of the enclave on one connection. The person is always that of the registered caller.
package enum EnclaveRequest: Hashable, Sendable {
    /// Comes with two descriptors: the caller's accepted connection and its process. Valid for this connection, until
    /// the next registration on it.
    case registerCaller
    /// For keychaind: a new item key, wrapped for this row. The key is the reply's secret section; the application's
    /// password, where the control needs one, is the request's.
    case seal(RowBinding)
    /// For keychaind: the item key of this row, beside its application's password where it has one. May ask the person
    /// first, unless `mayAsk` is false or the caller's `authorisation` is enough.
    case open(RowBinding, wrapped: [UInt8], reason: String?, mayAsk: Bool, authorisation: [UInt8]? = nil)
    /// For keychaind: the metadata and index keys that are open now, as one secret section.
    case lease
    /// For keychaind: the same item key, wrapped by the class key of another generation. Asks nobody and shows no key.
    case rewrap(RowBinding, wrapped: [UInt8], generation: [UInt8])
    /// For keychaind: no row and no quarantined row is wrapped by these older class keys any more, so they may go.
    case retire([KeyName])
    /// For keychaind: what became of a key.
    case fate(KeyName)
    /// For keychaind: asks the person to let the caller across the line between its items and another's.
    case consent(Consent, reason: String?)
    /// For keychaind and authd: who the registered caller is. Asked before the caller hears a word, it is the word on the
    /// process that speaks on that connection for as long as it lasts.
    case identify
    /// For keychaind: comes with the caller's accepted connection, on which the caller uses private keys from now on.
    case handOver
    /// For authd: the requests of its own door, passed on.
    case status
    case challenge(PasscodePurpose)
    case setPasscode(PasscodeChallenge, new: SealedPasscode, recoveryKey: SealedPasscode?)
    /// With `rolls`, every class key is made anew, and the older ones stay until no row needs them.
    case changePasscode(PasscodeChallenge, old: SealedPasscode, new: SealedPasscode, rolls: Bool)
    case unlock(PasscodeChallenge, SealedPasscode)
    case lock
    case canEvaluate(OwnerPolicy)
    case evaluate(Evaluation)
    case removePasscode(PasscodeChallenge, SealedPasscode)
    /// A new keychain in the place of this one. Without a passcode only where none is set or ten tries were wrong.
    case erase(PasscodeChallenge, SealedPasscode?)
    case recover(PasscodeChallenge, recoveryKey: SealedPasscode, new: SealedPasscode, newRecoveryKey: SealedPasscode?)
    /// Another recovery key, or none any more.
    case setRecoveryKey(PasscodeChallenge, SealedPasscode, recoveryKey: SealedPasscode?)
    case configure(PasscodeChallenge, SealedPasscode, LockSettings)
    /// The reader learns a finger of this person; with `unlocks`, a matched finger unlocks from now on.
    case enrol(PasscodeChallenge, SealedPasscode, unlocks: Bool)
    case forgetFingers(PasscodeChallenge, SealedPasscode)
    case unlockByFinger
    case listFingers(PasscodeChallenge, SealedPasscode)
    case environment

    /// The role whose connections may ask this.
    package var role: EnclaveRole? {
        switch self {
        case .registerCaller, .identify: nil
        case .seal, .open, .lease, .rewrap, .retire, .fate, .consent, .handOver: .keychain
        default: .authentication
        }
    }

    /// Whether an application's password may come as its secret section.
    package var takesSecret: Bool {
        switch self {
        case .seal(let row), .open(let row, _, _, _, _): row.accessControl?.needsApplicationPassword ?? false
        default: false
        }
    }
}
