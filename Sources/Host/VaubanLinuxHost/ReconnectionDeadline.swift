/// Until when a standing line that is not there is waited for: while rooms start, and for a while after it was lost. Whoever comes
/// later is answered without it at once.
package struct ReconnectionDeadline: Sendable {
    private let grace: UInt64
    private var until: UInt64

    /// From the room's own start on. Times in nanoseconds of the monotonic clock.
    package init(from now: UInt64, grace: UInt64) {
        self.grace = grace
        until = now &+ grace
    }

    package mutating func lost(at now: UInt64) { until = now &+ grace }

    /// Until when to wait, at most until `deadline`; nil where nothing comes any more as far as can be known.
    package func wait(from now: UInt64, until deadline: UInt64) -> UInt64? {
        now < until ? min(until, deadline) : nil
    }
}
