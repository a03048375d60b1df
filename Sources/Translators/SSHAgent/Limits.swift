/// The limits of the agent. Times in nanoseconds.
enum AgentLimits {
    /// Connections at once. Each takes a descriptor and, until its first message, some hundred bytes.
    static let connectionsMax = 4096
    /// Requests served at once, in total and for one process: each prompt waits on a thread of its own.
    static let requestsMax = 64
    static let requestsOfProcessMax = 8
    /// The stack of a thread that serves a request.
    static let stackBytes = 512 << 10
    /// The buffer of a message before more of it has arrived.
    static let firstBytes = 1024
    /// How long a client may take to read a reply.
    static let writeTime: UInt64 = 10_000_000_000
    /// How long another agent may take for everything but a signature, which may wait for a touch.
    static let upstreamTime: UInt64 = 10_000_000_000
    /// The bytes of another agent's answer that are read at once.
    static let relayedPartBytes = 16 << 10
    /// Sessions to which one connection is bound, as in OpenSSH.
    static let sessionsMax = 16
    /// Added keys in memory.
    static let addedKeysMax = 256
    /// The largest file of known hosts.
    static let knownHostsBytesMax = 8 << 20
    /// The characters of a caller's name in a prompt.
    static let nameCharactersMax = 80
}
