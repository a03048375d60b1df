/// The limits of the enclave room, and the facts that are asserted against each other in its tests.
package enum EnclaveLimits {
    package static let keyBytes = 32
    /// A keybag on disk; far more than all slots of many generations take.
    package static let keybagBytesMax = 65_536
    package static let attemptRecordBytesMax = 4096
    /// Slots of one keybag: each class, index and factor in several generations.
    package static let slotsMax = 256
    /// Keys that a keybag may have to lend together, class keys of all generations and the index keys: a quarter of what a
    /// lease may list (`KeyLease.keysMax`), so that none is made which keychaind would not understand.
    package static let leasedKeysMax = 64
    /// Names of destroyed keys that are remembered.
    package static let destroyedMax = 512
    /// Challenges of one user that are open at once, but for those of questions; the oldest gives way.
    package static let openChallengesMax = 64
    /// Contexts of one user that are authorized at once.
    package static let authorizationsPerUserMax = 64
    /// Connections of one user on which private keys are used, and keys that one of them has open.
    package static let keyLinesPerUserMax = 64
    /// Of one process, so that no program takes them all.
    package static let keyLinesPerProcessMax = 32
    package static let openKeysMax = 64
    /// Generations of the key of a class's private keys. None of them can ever go, since what it wraps may lie anywhere; beyond these, a
    /// first passcode makes no further one.
    package static let privateKeyGenerationsMax = 8
    /// Generations of each factor pair to which private keys are sealed, for the same reason; beyond these, the newest of them takes all
    /// further ones.
    package static let keyFactorGenerationsMax = 8
    /// Generations of each factor pair: those, and as many that wait until no row is sealed to them. Beyond these, a first passcode makes
    /// no further one.
    package static let factorGenerationsMax = 2 * keyFactorGenerationsMax
    /// How long after a passcode rows are sealed to the current pairs, in nanoseconds. What is left then waits for the next one.
    package static let resealingTime: UInt64 = 300_000_000_000
    /// How long a challenge may be answered, in nanoseconds: the user's time.
    package static let challengeTime: UInt64 = 300_000_000_000
    /// Wrong passcodes in a row after which a keychain may be erased without one.
    package static let failuresBeforeErasure: Int64 = 10
    package static let applicationPasswordBytesMax = 1024
    /// Requests of one owner that may be at a derivation or wait for one, and of these for passwords of applications: half, so that no
    /// program's keep its user from unlocking.
    package static let derivationsWaitingMax = 8
    package static let applicationDerivationsWaitingMax = derivationsWaitingMax / 2
    /// Owners of whom it is remembered when they were served last.
    static let derivationOwnersRemembered = 1024
    /// How often a request that waits for its turn says so: well within the time that those who asked have patience for a machine.
    static let derivationNewsTime: UInt64 = 3_000_000_000
    /// Sleep that is shorter than this is none: two clocks are never read at the same instant.
    package static let sleepNoticed: UInt64 = 1_000_000_000
    /// How long a lock waits for keychaind to erase what it borrowed, before it cuts the line.
    package static let recallTime: UInt64 = 2_000_000_000
    /// How long a question waits for authd's line, which comes within this after any start.
    package static let attentionTime: UInt64 = 3_000_000_000
    /// How long the witness may take to say who a process is, before it is called unknown.
    package static let witnessTime: UInt64 = 3_000_000_000
    /// Users whose changed lists of fingers are applied at once, each on a thread.
    package static let fingerListThreadsMax = 64
    /// How long after the enclave's start, and after the witness's line was lost, a new line is waited for at all. Longer than the
    /// pauses after which a witness that lives, or one that is started again, connects.
    package static let witnessGrace: UInt64 = 10_000_000_000
}
