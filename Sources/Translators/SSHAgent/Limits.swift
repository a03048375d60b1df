/// The limits of the agent. Times in nanoseconds.
enum AgentLimits {
    /// Concurrent connections. Each takes a descriptor and, before its first message, a few hundred bytes.
    static let connectionsMax = 4096
    /// Concurrent connections of one process, such as the one that forwards the agent to another machine.
    static let connectionsOfProcessMax = 2048
    /// Concurrent requests, in total and of one process. Each prompt blocks a separate thread, so further requests wait for their turn.
    static let requestsMax = 64
    static let requestsOfProcessMax = 8
    /// How long a thread waits for the client's next message after its reply, in milliseconds, and how many threads do so at once.
    static let nextMessageTime: Int32 = 100
    static let waitingThreadsMax = 32
    /// The initial size of a message's buffer.
    static let firstBytes = 1024
    /// The pause per wrong passphrase of `ssh-add -X` so far, and the longest pause, in milliseconds, as in OpenSSH.
    static let unlockPause: Int32 = 100
    static let unlockPauseMax: Int32 = 10_000
    /// The timeout for a client to read a reply.
    static let writeTime: UInt64 = 10_000_000_000
    /// The timeout for another agent's replies, except for a signature, which may wait for a touch.
    static let upstreamTime: UInt64 = 10_000_000_000
    /// The pauses between attempts to connect to another agent whose queue is full, in milliseconds.
    static let connectPauseMin: Int32 = 1
    static let connectPauseMax: Int32 = 100
    /// The bytes of another agent's reply that are read at once.
    static let upstreamPartBytes = 16 << 10
    /// Sessions to which one connection is bound, as in OpenSSH.
    static let sessionsMax = 16
    /// Added keys in memory.
    static let addedKeysMax = 256
    /// The bytes of the added keys' public halves, certificates and comments: half of the largest list that clients accept.
    static let addedBytesMax = 128 << 10
    /// How long an agent runs at least before it ends so that the next one reads new known-hosts files. systemd gives up on a service that
    /// starts more than five times in ten seconds.
    static let renewalTime: UInt64 = 3_000_000_000
    /// The bytes of one known-hosts file.
    static let knownHostsBytesMax = 8 << 20
    /// The hashed names of one server, and the names that are compared with each of them.
    static let hashedNamesMax = 64
    static let comparedNamesMax = 4096
    /// The characters of a stored key's name in lists of keys.
    static let nameCharactersMax = 80
    /// The characters of a server's name in a prompt.
    static let promptHostCharactersMax = 36
    /// The characters that a prompt has for a key's name, and for a text that the other side of a connection chose: the most, and in the
    /// longest prompt the fewest.
    static let promptPartCharactersMax = 40
    static let promptPartCharactersMin = 16
}
