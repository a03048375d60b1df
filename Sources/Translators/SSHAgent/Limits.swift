/// The limits of the agent. Times in nanoseconds.
enum AgentLimits {
    /// Concurrent connections. Each uses a descriptor and, until its first message, some hundred bytes.
    static let connectionsMax = 4096
    /// Those of one process, such as the one that forwards the agent to another machine.
    static let connectionsOfProcessMax = 2048
    /// Concurrent requests, in total and for one process: each prompt waits on a separate thread. A further one waits for its turn.
    static let requestsMax = 64
    static let requestsOfProcessMax = 8
    /// The milliseconds for which a thread that has replied waits for the client's next message, and how many threads do so at once.
    static let nextMessageTime: Int32 = 100
    static let waitingThreadsMax = 32
    /// The buffer of a message before more of it has arrived.
    static let firstBytes = 1024
    /// The pause after a wrong passphrase of `ssh-add -X` for each wrong one so far, and the longest, in milliseconds, as in OpenSSH.
    static let unlockPause: Int32 = 100
    static let unlockPauseMax: Int32 = 10_000
    /// The timeout for a client to read a reply.
    static let writeTime: UInt64 = 10_000_000_000
    /// The timeout for another agent's replies, except for a signature, which may wait for a touch.
    static let upstreamTime: UInt64 = 10_000_000_000
    /// The pauses between attempts to connect to another agent whose queue is full, in milliseconds.
    static let connectPauseMin: Int32 = 1
    static let connectPauseMax: Int32 = 100
    /// The number of bytes of another agent's reply that are read at once.
    static let relayedPartBytes = 16 << 10
    /// Sessions to which one connection is bound, as in OpenSSH.
    static let sessionsMax = 16
    /// Added keys in memory.
    static let addedKeysMax = 256
    /// Bytes of their public halves, certificates and comments: half of the largest list that clients read.
    static let addedBytesMax = 128 << 10
    /// The largest file of known hosts.
    static let knownHostsBytesMax = 8 << 20
    /// The hashed names of one server, and the names that are compared with each.
    static let hashedNamesMax = 64
    static let comparedNamesMax = 4096
    /// The characters of a caller's name in a prompt.
    static let nameCharactersMax = 80
}
