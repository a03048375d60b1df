/// The limits of the Secret Service. Times in nanoseconds where nothing else is said.
enum SecretServiceLimits {
    /// Calls of one client that wait for their turn, and calls of all clients.
    static let callsOfClientMax = 256
    static let callsMax = 4096
    /// Threads that work on calls at once; a client has one.
    static let threadsMax = 64
    static let stackBytes = 512 << 10
    /// Sessions of one client, and of all.
    static let sessionsOfClientMax = 64
    static let sessionsMax = 4096
    /// Prompts that exist at once, and how long one waits for the user.
    static let promptsMax = 64
    static let promptTime: UInt64 = 1_800_000_000_000
    /// Items in the collection that is kept in memory, and their bytes together.
    static let memoryItemsMax = 4096
    static let memoryBytesMax = 16 << 20
    /// Bytes of a secret.
    static let secretBytesMax = 1 << 20
    /// Bytes of a label.
    static let labelBytesMax = 4096
    /// How long a read is repeated while a room restarts.
    static let roomRestartMax: UInt64 = 10_000_000_000
    /// How long the bus daemon may take to answer.
    static let busAnswerMax: UInt64 = 5_000_000_000
    /// Arguments and values of one message.
    static let valuesMax = 65_536
}
