import VaubanLinuxHost

/// The limits of authd. Times in milliseconds where they are given to poll, otherwise in nanoseconds.
enum AuthenticationLimits {
    /// Agents of one person; the door's status reply can name as many places.
    static let agentsPerPersonMax = 32
    /// Prompts of one person, shown or in line. What comes beyond them is answered as if nobody were there.
    static let promptsPerPersonMax = 64
    /// Watches of one person.
    static let watchersPerPersonMax = 64
    /// How many shown questions an agent is remembered by, so that a late answer is told from an invented one.
    static let shownRememberedMax = 8
    /// How long the enclave may take to end a request for which a person is waited for: it counts the person's time
    /// itself and says so; this is only for the case that it does not.
    static let personAnswer = DoorLimits.personTime + DoorLimits.machineTime
    /// Pauses before the attention line is opened again, doubled each time up to the longest.
    static let reconnectPauseMin: Int32 = 20
    static let reconnectPauseMax: Int32 = 2_000
    /// A line that lived this long was a good one, so the next pause is the shortest again.
    static let goodLine: UInt64 = 1_000_000_000
    /// The stack of the thread that holds the attention line, as that of a door's threads.
    static let threadStackBytes = 1 << 19
}
