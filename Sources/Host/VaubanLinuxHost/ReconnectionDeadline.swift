/// How long requests wait for a standing connection: while rooms start, and for a while after it was lost. After that, requests are
/// answered at once without it.
package struct ReconnectionDeadline: Sendable {
    private let grace: UInt64
    private var until: UInt64

    /// Starts with the room's own start. Times in nanoseconds of the monotonic clock.
    package init(from now: UInt64, grace: UInt64) {
        self.grace = grace
        until = now &+ grace
    }

    package mutating func lost(at now: UInt64) { until = now &+ grace }

    /// Returns the time until which to wait, at most `deadline`; nil if no connection is to be expected.
    package func wait(from now: UInt64, until deadline: UInt64) -> UInt64? {
        now < until ? min(until, deadline) : nil
    }
}
