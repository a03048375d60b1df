/// Limits the log lines that other processes can cause, and counts those that are omitted.
package final class LogLimiter: Sendable {
    private struct State {
        var began: UInt64 = 0
        var written = 0
        var byOwner: [UInt32: Int] = [:]
        var leftOut = 0
    }

    /// The lines in one period: of one owner, and of all.
    package static let linesPerOwnerMax = 10
    package static let linesMax = 60
    /// The period in nanoseconds.
    package static let period: UInt64 = 60_000_000_000

    private let now: @Sendable () -> UInt64
    private let state = ThreadMutex(State())

    package init(now: @escaping @Sendable () -> UInt64 = { MachineClock.monotonic }) { self.now = now }

    /// Returns how many lines were omitted since the last one if a line about this owner may be written now; otherwise nil.
    package func line(about owner: UInt32) -> Int? {
        state.withLock { state in
            let now = now()
            if now >= state.began + Self.period || state.began == 0 {
                state.began = now
                state.written = 0
                state.byOwner = [:]
            }
            guard state.written < Self.linesMax, state.byOwner[owner, default: 0] < Self.linesPerOwnerMax else {
                state.leftOut += 1
                return nil
            }
            state.written += 1
            state.byOwner[owner, default: 0] += 1
            defer { state.leftOut = 0 }
            return state.leftOut
        }
    }
}
