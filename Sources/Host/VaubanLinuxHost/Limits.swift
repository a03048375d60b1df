/// The limits that all sockets share. Times in nanoseconds, sizes in bytes.
package enum ConnectionLimits {
    /// A DER header. Larger answers take several messages.
    package static let headerBytesMax = 60_000
    /// The one secret section of a message.
    package static let secretBytesMax = 1 << 20
    /// A secret up to this size is copied once more, so that the message after it is sent with it.
    package static let copiedSecretBytesMax = 4096
    /// The time for a machine to reply, or to finish a message that it began.
    package static let machineTime: UInt64 = 10_000_000_000
    /// The time for a user to answer. It is never counted as machine time, and the prompt shows it.
    package static let userTimeout: UInt64 = 300_000_000_000
    /// Connections that one socket serves at once. Owners share them (Specs/owners.md).
    package static let connectionsMax = 1024
    /// For each connection of an owner this many must be free, so one owner alone gets a quarter of all.
    package static let freeForEach = 3
    /// Further connections that were closed while idle and still answer what had just arrived.
    package static let leavingMax = 64
    /// Connections to the enclave: one for each that two rooms serve, and their standing connections. They belong to rooms, which share out
    /// their own, so a uid's number there says nothing about a user.
    package static let enclaveConnectionsMax = 2 * (connectionsMax + leavingMax) + 16
    /// Callers that wait to be accepted, in order. The system's own limit may be lower.
    package static let waitingMax: Int32 = 4096
    /// The pause before a server without free descriptors tries again, in milliseconds.
    package static let shortagePause: Int32 = 10
}

/// The limits of the memory for secrets, in bytes.
enum SecretMemoryLimits {
    /// The smallest slot, the number of sizes (each twice the one before), and the largest slot.
    static let slotBytesMin = 64
    static let sizes = 7
    static let slotBytesMax = slotBytesMin << (sizes - 1)
    /// The size of a chunk: as much as may be locked under the oldest default limit, 64 KiB.
    static let chunkBytes = 64 << 10
    /// The memory that a room should be able to lock: the keys of about a thousand users and the values being served.
    static let lockedBytesWanted = 1 << 20
}
