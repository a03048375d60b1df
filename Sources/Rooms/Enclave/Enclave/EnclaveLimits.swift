/// The limits of the enclave, and the facts that its tests assert about each other.
package enum EnclaveLimits {
    package static let keyBytes = 32
    /// Size of a keybag on disk; far more than all slots of many generations need.
    package static let keybagBytesMax = 65_536
    package static let attemptRecordBytesMax = 4096
    /// Size of a device's part of a circle on disk.
    package static let circleBytesMax = 131_072
    /// Size of the access log's keys and end on disk.
    package static let accessLogBytesMax = 16_384
    /// Devices that a member answers until one is admitted, and then the time between two, in microseconds: whoever could have others
    /// answered without end would try keys until the codes agree.
    package static let circleAnswersMax: Int64 = 10
    package static let circleAnswerIntervalMicroseconds: UInt64 = 3_600_000_000
    /// Slots in one keybag: each class, index and factor in several generations.
    package static let slotsMax = 256
    /// Keys that a keybag may lease: class keys of all generations and the index keys. It is a quarter of what a lease may list
    /// (`KeyLease.keysMax`), so that keychaind understands every lease.
    package static let leasedKeysMax = 64
    /// Names of destroyed keys that a keybag remembers.
    package static let destroyedMax = 512
    /// Open challenges of one user, not counting those of prompts. The oldest is dropped for a new one.
    package static let openChallengesMax = 64
    /// Authorized contexts of one user.
    package static let authorizationsPerUserMax = 64
    /// Connections of one user that use private keys, and open keys on one of them.
    package static let keyConnectionsPerUserMax = 64
    /// The same per process, so that one program cannot use up its user's share.
    package static let keyConnectionsPerProcessMax = 32
    package static let openKeysMax = 64
    /// Keys of one such connection whose uses are counted each; those of further ones are counted together.
    package static let countedKeysMax = 64
    /// How long uses of private keys are collected before they are reported to keychaind again, in milliseconds.
    package static let keyUsePauseMilliseconds: Int32 = 500
    /// Answers of the user that hold on one such connection.
    package static let heldAnswersMax = 4
    /// Generations of the key that wraps a class's private keys. None can ever be removed, since the wrapped keys may be stored anywhere.
    /// Beyond this number, a first passcode adds no further one.
    package static let privateKeyGenerationsMax = 8
    /// Generations of each factor pair to which private keys are sealed, for the same reason. Beyond this number, the newest of them
    /// is used for all further keys.
    package static let keyFactorGenerationsMax = 8
    /// Generations of each factor pair: those, and as many that exist until no row is sealed to them. Beyond this number, a first
    /// passcode adds no further one.
    package static let factorGenerationsMax = 2 * keyFactorGenerationsMax
    /// How long after a passcode rows are resealed to the current pairs, in nanoseconds. The rest waits for the next passcode.
    package static let resealingPeriod: UInt64 = 300_000_000_000
    /// How long a challenge can be answered, in nanoseconds: the user's time.
    package static let challengeLifetime: UInt64 = 300_000_000_000
    /// Failed attempts in a row after which a keychain can be erased without the passcode.
    package static let failuresBeforeErasure: Int64 = 10
    package static let applicationPasswordBytesMax = 1024
    /// A backup's passphrase is guessed offline, without any counter.
    package static let backupPassphraseBytesMin = 8
    /// Requests of one owner that run or await a derivation. Application passwords get at most half of them, so that no program can keep
    /// its user from unlocking.
    package static let derivationsWaitingMax = 8
    package static let applicationDerivationsWaitingMax = derivationsWaitingMax / 2
    /// Owners whose last turn is remembered.
    static let derivationOwnersRemembered = 1024
    /// How often a queued request reports that it is still queued; well within the timeout that callers have for a machine.
    static let derivationProgressInterval: UInt64 = 3_000_000_000
    /// Shorter sleep counts as none: two clocks cannot be read at the same instant.
    package static let sleepNoticed: UInt64 = 1_000_000_000
    /// How long a lock waits for keychaind to erase its leased keys before it ends the connection.
    package static let recallTimeout: UInt64 = 2_000_000_000
    /// How long a prompt waits for authd's connection, which is made within this time after a start.
    package static let promptConnectionTimeout: UInt64 = 3_000_000_000
    /// How long the witness may take to identify a process before the process counts as unknown.
    package static let witnessTimeout: UInt64 = 3_000_000_000
    /// Users whose changed lists of fingers are applied at once, each on a thread.
    package static let fingerListThreadsMax = 64
    /// How long after the enclave's start, and after the witness's connection was lost, a new one is waited for. It exceeds the backoff
    /// after which a running or restarted witness connects.
    package static let witnessGrace: UInt64 = 10_000_000_000
}
