/// The limits of the keychain room, in one place.
package enum KeychainLimits {
    /// Bytes of a value; what one message can carry (`ConnectionLimits.secretBytesMax`), less the application's password.
    package static let valueBytesMax = 1 << 20
    /// Bytes of an item's record as a reply carries it: below a message's header by more than dates and group add.
    package static let recordBytesMax = 58_000
    /// Bytes of records in one reply; together with the frame they stay below a message's header.
    package static let replyBytesMax = 59_000
    /// Plaintexts are filled up to a multiple of this, so that sizes on disk tell little.
    package static let paddingBytes = 32
    /// Rows that a search holds in memory at once, and about how many bytes.
    package static let batchRowsMax = 128
    package static let batchBytesMax = 4 << 20
    /// Bytes of new ciphertext that one update may hold until its transaction.
    package static let updateBytesMax = 256 << 20
    /// Rows that one request moves to the current class key, and about how many bytes of them.
    package static let rewrapRowsMax = 256
    package static let rewrapBytesMax = 4 << 20
    /// How long the machine may sleep, in nanoseconds, before what was lent is borrowed anew: what two clocks that are
    /// read one after the other may differ by, and more.
    package static let sleepNanosecondsMax: Int64 = 1_000_000_000
    /// How often a request starts over because a key changed, or, where the user may have been asked, because a row was written
    /// meanwhile.
    package static let attemptsMax = 4
    /// How often it starts over because a row was written meanwhile: more than one user has connections, each of which may come
    /// before it once.
    package static let racesMax = 512
    /// The longest pause before the standing connection is made again, in milliseconds.
    package static let reconnectMillisecondsMax: Int32 = 1000
    /// Yeses until the lock that are kept for one user; what is beyond is asked again.
    package static let consentsMax = 4096
    /// Offers of one owner to let others ask for what it keeps (`kSecAttrAccess`).
    package static let grantsMax = 1024
    /// Builds that are remembered of one path.
    package static let buildsOfPathMax = 64
    /// Owners whose offers are listed one by one; the rest is counted.
    package static let offeringOwnersMax = 64
    /// Items whose permissions are looked up one by one when they are deleted.
    static let grantsLookedUpMax = 64
    /// Rows that one request gives to another owner.
    package static let moveRowsMax = 256
    /// Bytes of a database of which a verified copy is kept.
    package static let verifiedBytesMax = 256 << 20
    /// Bytes of the disk that such a copy leaves free.
    package static let verifiedBytesReserved = 1 << 20
    /// Rows that were put aside and are tried again by one look at everything.
    package static let readmittedRowsMax = 1024
    /// How often a lease is asked for while the enclave does not yet know the standing connection.
    package static let leaseAttemptsMax = 50
    /// The pause between two of them, in milliseconds.
    package static let leasePauseMilliseconds: Int32 = 20
}
