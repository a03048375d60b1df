/// How long a request to unlock the keychain waits while nothing can show its prompt. A prompt agent that starts at login comes within this
/// time, and the program gets an error before it stops waiting for a reply.
package struct AgentWait: Sendable {
    package static let time = SecretServiceLimits.agentTime
    /// For clients that wait longer for a reply: KWallet's, and the portal.
    package static let longTime = SecretServiceLimits.agentLongTime
    private static let nanosecondsOfSecond: UInt64 = 1_000_000_000
    private let duration: UInt64
    /// When the wait ends, in nanoseconds of the monotonic clock.
    private var end: UInt64

    /// Begins the wait of a call that came at `arrival`, in nanoseconds of the monotonic clock.
    package init(since arrival: UInt64, lasting duration: UInt64 = AgentWait.time) {
        self.duration = duration
        end = arrival + duration
    }

    /// Starts the wait again, after the prompt was on the screen.
    package mutating func restart(at now: UInt64) { end = now + duration }

    /// Returns until when to wait for a change before the prompt is requested again, or nil if the time is over. `delaySeconds` is the rest
    /// of a delay after wrong passcodes, whose end nothing announces.
    package func nextRequest(after now: UInt64, delaySeconds: Int64? = nil) -> UInt64? {
        guard now < end else { return nil }
        guard let delaySeconds, delaySeconds > 0 else { return end }
        return min(end, now + UInt64(delaySeconds) * Self.nanosecondsOfSecond)
    }
}
