/// The limits of the keychain room, in one place.
package enum KeychainLimits {
    /// The characters that name several items for a companion in a prompt: `PromptWords` shows all of them.
    package static let shownItemsCharactersMax = 200
    /// The bytes of the name of one of these items.
    package static let shownItemNameBytesMax = 200
    /// The bytes of a value: one message's secret section (`ConnectionLimits.secretBytesMax`), less the application password.
    package static let valueBytesMax = 1 << 20
    /// The bytes of an item's record in a reply: a message's header less the room that dates and group need.
    package static let recordBytesMax = 58_000
    /// The bytes of all records in one reply; with the frame they fit into a message's header.
    package static let replyBytesMax = 59_000
    /// Plaintexts are padded to a multiple of this, so that sizes on disk reveal little.
    package static let paddingBytes = 32
    /// Rows that a request holds in memory at once, and about how many bytes.
    package static let batchRowsMax = 128
    package static let batchBytesMax = 4 << 20
    /// About how many bytes of rows a search holds in memory at once.
    package static let searchBytesMax = 1 << 20
    /// The bytes that one update may hold until its transaction, and those of a row besides its content: fields of a fixed size, and the
    /// heads of arrays.
    package static let updateBytesMax = 256 << 20
    package static let updateRowBytes = 1024
    /// How many of these bytes an update holds without a turn: more than one item has. And how many updates of one owner have a turn: those
    /// that prompt nobody any more, and those that prompt.
    package static let updateBytesFree = 2 << 20
    package static let largeUpdatesMax = 2
    package static let promptingUpdatesMax = 1
    /// Rows that one request moves to the current class key, and about how many bytes of them.
    package static let rewrapRowsMax = 256
    package static let rewrapBytesMax = 4 << 20
    /// A sleep longer than this, in nanoseconds, requires a new lease: more than two clocks that are read in succession can differ by.
    package static let sleepNanosecondsMax: Int64 = 1_000_000_000
    /// How often a request starts over because a key changed or, if the user may have been prompted, because a row was written meanwhile.
    package static let attemptsMax = 4
    /// How often a request starts over because a row was written meanwhile: other users' connections may each win once.
    package static let racesMax = 512
    /// The longest pause before the standing connection is established again, in milliseconds.
    package static let reconnectMillisecondsMax: Int32 = 1000
    /// Consents until the lock that are kept for one user; beyond these the user is prompted again.
    package static let consentsMax = 4096
    /// Offers of one owner that let other programs request its items (`kSecAttrAccess`).
    package static let offersMax = 1024
    /// Builds that are recorded for one path.
    package static let buildsOfPathMax = 64
    /// Owners whose offers are listed individually; the rest are counted.
    package static let offeringOwnersMax = 64
    /// Deleted items whose permissions are looked up individually.
    static let permissionLookupsMax = 64
    /// Rows that one request gives to another owner.
    package static let moveRowsMax = 256
    /// The largest database, in bytes, of which a verified copy is kept.
    package static let verifiedBytesMax = 256 << 20
    /// The bytes of free disk space that such a copy leaves.
    package static let verifiedBytesReserved = 1 << 20
    /// How long the fetcher may take to query a website, in nanoseconds: less than the caller waits, more than the fetcher's own deadline.
    package static let siteTime: UInt64 = 9_000_000_000
    /// The maximum age of a website's list, in seconds.
    package static let siteListAgeSecondsMax: Int64 = 86_400
    /// Records of the access log under keys that follow from one, and for how long, in nanoseconds.
    package static let logSeriesRecordsMax = 1024
    package static let logSeriesNanosecondsMax: UInt64 = 3_600_000_000_000
    /// The greatest distance of a record from the first of its series.
    package static let logSeriesNumbersMax: Int64 = 8192
    /// The bytes of the largest record in a reply, and of all faults in one.
    package static let logRecordBytesMax = 16_384
    static let logFaultsBytesMax = 2048
    /// After how long a request tells its caller that it goes on, in nanoseconds: less than the caller waits for a reply.
    package static let silenceMax: UInt64 = 2_000_000_000
    /// How often the end of the access log is reported to the enclave, in nanoseconds.
    package static let logAnchorNanoseconds: UInt64 = 10_000_000_000
    /// How long uses are collected before they are written to the access log, in milliseconds, and the longest pause after writes that
    /// failed.
    package static let logPauseMilliseconds: Int32 = 1000
    static let logRetryMillisecondsMax: Int32 = 60_000
    /// The users whose access logs are kept in memory while nobody uses them, besides those whose allowance is partly used.
    package static let logsMax = 256
    /// The items of one user with private keys that are known by their keys.
    package static let keyItemsMax = 4096
    /// Uses that are noted and not yet written.
    package static let logPendingUsesMax = 4096
    /// Uses of canaries that are noted beyond these, and log records for them in one second beyond those that the program may have.
    package static let logPendingAlertsMax = 256
    package static let logAlertRecordsMax = 8
    /// The programs of one owner's users that lines about canaries distinguish, and how long one waits for its next line, in nanoseconds.
    package static let alertProgramsMax = 64
    package static let alertLineNanoseconds: UInt64 = 60_000_000_000
    /// The users of one owner for whom something is remembered. The owner's own place is always there.
    package static let usersOfOwnerMax = 16
    /// The canaries of one user that are known while they are locked.
    package static let canariesKnownMax = 4096
    /// A user's requests that were refused in a prompt and are to be looked up among canaries.
    package static let refusedRequestsMax = 256
    /// The bytes of the attributes that these name.
    package static let refusedBytesMax = 1 << 20
    /// About how many rows are read for these before the logs of other users have their turn.
    package static let refusedRowsOfTurn = 1024
    /// The requests of a user that wait for alerts, those that wait for changes of synchronizable items, those of an owner that wait for
    /// the turn of a large update, and for how long each waits in all, in nanoseconds: less than a caller waits for its user.
    package static let waitersMax = 16
    package static let waitTime: UInt64 = 240_000_000_000
    /// How long a search for the last uses of an item may take, in nanoseconds.
    package static let lastUsesTime: UInt64 = 1_000_000_000
    /// The log records that are read at once for that.
    package static let lastUsesRowsMax = 1024
    /// The bytes of a padded log record that count as one unit.
    package static let logUnitBytes = 1024
    /// The units of the log that a program may have at once, and the nanoseconds after which it may have one more.
    package static let logBurst: UInt64 = 4000
    package static let logInterval: UInt64 = 10_000_000_000
    /// The same for all programs of a user.
    package static let logUserBurst: UInt64 = 20_000
    package static let logUserInterval: UInt64 = 2_000_000_000
    /// The time, in nanoseconds, in which the uses of a program without units have one log record for each action and outcome.
    package static let logSumNanoseconds: UInt64 = 1_000_000_000
    /// The uses that may wait for that, and how many of them with an item's name.
    static let logHeldUsesMax = 3072
    static let logHeldNamesMax = 2048
    /// The programs, with action and outcome, whose last such log records are known.
    static let logSumsMax = 1024
    /// The programs of a user whose units are counted.
    package static let logProgramsMax = 256
    /// How often a lease is requested while the enclave does not know the standing connection yet.
    package static let leaseAttemptsMax = 50
    /// The pause between two such requests, in milliseconds.
    package static let leasePauseMilliseconds: Int32 = 20
    /// Websites that are queried for one user at the same time. The fetcher queries only a few for all users.
    package static let siteRequestsOfUserMax = 2
    /// From this time on, in nanoseconds, a query may have left a name look-up behind in the fetcher, which nothing ends. It then counts
    /// against the user for the next time.
    package static let siteSlowTime: UInt64 = 5_000_000_000
    package static let siteHeldTime: UInt64 = 30_000_000_000
}
