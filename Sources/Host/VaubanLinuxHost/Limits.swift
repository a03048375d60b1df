/// The limits that every door shares. Times in nanoseconds, sizes in bytes.
package enum ConnectionLimits {
    /// A DER header; larger answers come in several messages.
    package static let headerBytesMax = 60_000
    /// The one secret section of a message.
    package static let secretBytesMax = 1 << 20
    /// A secret that is copied once more, so that the message after it goes out with it.
    package static let copiedSecretBytesMax = 4096
    /// Time for a machine to answer or to finish a message that it began.
    package static let machineTime: UInt64 = 10_000_000_000
    /// Time for a user to answer; never counted as machine time, and told to the user.
    package static let userTimeout: UInt64 = 300_000_000_000
    /// Connections that one endpoint serves at once. Owners share them (Specs/owners.md).
    package static let connectionsMax = 1024
    /// For each connection that an owner would have, this many must be free: one owner alone gets a quarter of all.
    package static let freeForEach = 3
    /// Connections that were closed while they were idle and answer what had just come, besides.
    package static let leavingMax = 64
    /// Connections to the enclave: one for each that two rooms serve, and their standing lines. They are the rooms', who
    /// share out their own, so no number of one uid says anything about a user there.
    package static let enclaveConnectionsMax = 2 * (connectionsMax + leavingMax) + 16
    /// Callers who wait to be accepted; in turn, so none is passed over. The system's own limit may be lower.
    package static let waitingMax: Int32 = 4096
    /// Before a door that found no descriptor free looks again, in milliseconds.
    package static let shortagePause: Int32 = 10
}

/// The limits of the memory for secrets, in bytes.
enum SecretMemoryLimits {
    /// The smallest slot, how many sizes there are (each twice the one before), and the largest slot.
    static let slotBytesMin = 64
    static let sizes = 7
    static let slotBytesMax = slotBytesMin << (sizes - 1)
    /// As much as may be locked where the limit is the oldest one, 64 KiB.
    static let chunkBytes = 64 << 10
    /// What a room should be able to lock: keys of some thousand people and the values in flight.
    static let lockedBytesWanted = 1 << 20
}
