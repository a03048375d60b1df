/// The limits of the enclave, and the relations between them that tests assert.
package enum EnclaveLimits {
    package static let keyBytes = 32
    /// The bytes of a keybag on disk: far more than all slots of many generations need.
    package static let keybagBytesMax = 65_536
    package static let attemptRecordBytesMax = 4096
    /// The bytes of a device's part of a circle on disk.
    package static let circleBytesMax = 131_072
    /// The bytes of the largest state file.
    package static let stateBytesMax = circleBytesMax
    /// The bytes of the access log's keys and end on disk.
    package static let accessLogBytesMax = 16_384
    /// The devices that a member answers until one is admitted, and after that the time between two answers, in microseconds. With
    /// unlimited answers, an attacker could try keys until the codes agree.
    package static let circleAnswersMax: Int64 = 10
    package static let circleAnswerIntervalMicroseconds: UInt64 = 3_600_000_000
    /// The slots in one keybag: each class, index and factor in several generations.
    package static let slotsMax = 256
    /// The keys that a keybag may lease: class keys of all generations and the index keys. A quarter of what a lease may list
    /// (`KeyLease.keysMax`), so that keychaind accepts every lease.
    package static let leasedKeysMax = 64
    /// The names of destroyed keys that a keybag keeps.
    package static let destroyedMax = 512
    /// The open challenges of one user, without those of prompts. A new challenge displaces the oldest.
    package static let openChallengesMax = 64
    /// The authorized contexts of one user.
    package static let authorizationsPerUserMax = 64
    /// The connections of one user that use private keys, and the open keys on one of them.
    package static let keyConnectionsPerUserMax = 64
    /// The same for one process, so that one program cannot use up its user's share.
    package static let keyConnectionsPerProcessMax = 32
    package static let openKeysMax = 64
    /// The prompts and requests to the reader that wait for one user, shown or queued. authd queues as many prompts of a user.
    package static let promptsPerUserMax = 64
    /// The same for one process, so that it leaves room for the prompts of others.
    package static let promptsPerProcessMax = 32
    /// The keys of one such connection whose uses are counted individually; uses of further keys are counted together.
    package static let countedKeysMax = 64
    /// How long uses of private keys are collected before they are reported to keychaind again, in milliseconds.
    package static let keyUsePauseMilliseconds: Int32 = 500
    /// The user's answers that hold on one such connection.
    package static let heldAnswersMax = 4
    /// The generations of the key that wraps a class's private keys. None can ever be removed, since the wrapped keys may be stored
    /// anywhere. At the limit, a first passcode adds no further one.
    package static let privateKeyGenerationsMax = 8
    /// Generations of each factor pair to which private keys are sealed, for the same reason. Beyond this number, the newest of them
    /// is used for all further keys.
    package static let keyFactorGenerationsMax = 8
    /// The generations of each factor pair: those, and as many that exist until no row is sealed to them. At the limit, a first passcode
    /// adds no further one.
    package static let factorGenerationsMax = 2 * keyFactorGenerationsMax
    /// How long after a passcode rows are resealed to the current pairs, in nanoseconds. Remaining rows wait for the next passcode.
    package static let resealingPeriod: UInt64 = 300_000_000_000
    /// How long a challenge can be answered, in nanoseconds. It is the user's time.
    package static let challengeLifetime: UInt64 = 300_000_000_000
    /// The failed attempts in a row after which a keychain can be erased without the passcode.
    package static let failuresBeforeErasure: Int64 = 10
    package static let applicationPasswordBytesMax = 1024
    /// The minimum length of a backup's passphrase in bytes. It can be guessed offline, without any counter.
    package static let backupPassphraseBytesMin = 8
    /// The requests of one owner that run or wait for a derivation. Application passwords get at most half of them, so that no program can
    /// keep its user from unlocking.
    package static let derivationsWaitingMax = 8
    package static let applicationDerivationsWaitingMax = derivationsWaitingMax / 2
    /// The owners whose last turn is kept.
    static let derivationOwnersMax = 1024
    /// How often a queued request reports that it is still queued, in nanoseconds: well within the timeout that callers have for a machine.
    static let derivationProgressInterval: UInt64 = 3_000_000_000
    /// A shorter sleep, in nanoseconds, is not noticed, since two clocks cannot be read at the same instant.
    package static let sleepNoticed: UInt64 = 1_000_000_000
    /// How long a lock waits for keychaind to erase its leased keys before it ends the connection, in nanoseconds.
    package static let recallTimeout: UInt64 = 2_000_000_000
    /// How long a prompt waits for authd's connection, which is established within this time after a start, in nanoseconds.
    package static let promptConnectionTimeout: UInt64 = 3_000_000_000
    /// How long the witness may take to identify a process, in nanoseconds. After that, the process counts as unknown.
    package static let witnessTimeout: UInt64 = 3_000_000_000
    /// The users whose changed lists of fingers are applied at once, each on a thread.
    package static let fingerListThreadsMax = 64
    /// How long requests wait for a connection of the witness after the enclave's start, and after the connection was lost, in nanoseconds.
    /// It exceeds the backoff after which a running or restarted witness connects.
    package static let witnessGrace: UInt64 = 10_000_000_000
}
