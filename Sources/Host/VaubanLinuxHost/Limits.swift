/// The limits that all sockets share. Times in nanoseconds, sizes in bytes.
package enum ConnectionLimits {
    /// The bytes of a DER header. Larger replies take several messages.
    package static let headerBytesMax = 60_000
    /// The bytes of the one secret section of a message.
    package static let secretBytesMax = 1 << 20
    /// A secret up to this size is copied, so that it is sent in one write with the message that follows.
    package static let copiedSecretBytesMax = 4096
    /// The time within which a machine must reply, or finish a message that it began.
    package static let machineTime: UInt64 = 10_000_000_000
    /// The time within which keychaind or authd must reply to a client, its first message included. Each may itself wait for the enclave,
    /// and gives up before its client does if the enclave is stopped, so that the refusal names the room that is silent. An enclave that is
    /// only slow can take longer: connecting, registering the caller and the request have the machine time each.
    package static let replyTime = machineTime / 2 * 3
    /// The time within which a user must answer. It does not count as machine time, and the prompt shows it.
    package static let userTimeout: UInt64 = 300_000_000_000
    /// The connections that one socket serves at once, which owners share (Specs/owners.md).
    package static let connectionsMax = 1024
    /// The number of places that must be free for each connection of an owner, so that one owner alone gets a quarter of all.
    package static let freeForEach = 3
    /// Further connections that were closed while idle and still reply to what had just arrived.
    package static let leavingMax = 64
    /// The connections to the enclave: one for each connection that two rooms serve, and the standing ones. They belong to rooms, which
    /// limit their own, so a uid's count there does not describe a user.
    package static let enclaveConnectionsMax = 2 * (connectionsMax + leavingMax) + 16
    /// Callers that wait to be accepted. The system's own limit may be lower.
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
    /// The bytes of a chunk: what may be locked under the oldest default limit, 64 KiB.
    static let chunkBytes = 64 << 10
    /// The memory that a room should be able to lock: for the keys of about a thousand users, and the values in use.
    static let lockedBytesWanted = 1 << 20
}
