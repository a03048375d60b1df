/// The limits of the agent. Times in nanoseconds where nothing else is said.
enum AgentLimits {
    /// Connections at once; each costs a descriptor and, until it says something, some hundred bytes.
    static let connectionsMax = 4096
    /// Requests that are worked on at once, and those of one process: a question waits on a thread of its own.
    static let requestsMax = 64
    static let requestsOfProcessMax = 8
    /// The stack of a thread that works on a request.
    static let stackBytes = 512 << 10
    /// The bytes for a message before more of it has come.
    static let firstBytes = 1024
    /// How long a client may take to accept an answer.
    static let writeTime: UInt64 = 10_000_000_000
    /// How long another agent may take for everything but a signature, which may wait for a touch.
    static let upstreamTime: UInt64 = 10_000_000_000
    /// The bytes of another agent's answer that are read at once.
    static let relayedPartBytes = 16 << 10
    /// Sessions to which one connection is tied, as OpenSSH has it.
    static let sessionsMax = 16
    /// Keys that were added and live in memory.
    static let addedKeysMax = 256
    /// A file of known hosts that is read.
    static let knownHostsBytesMax = 8 << 20
    /// A name of the other side within a question, in characters.
    static let nameCharactersMax = 80
}
