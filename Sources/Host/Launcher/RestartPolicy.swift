/// Decides when to restart a room that exited: at once, unless it keeps failing.
package struct RestartPolicy: Sendable {
    private var quickDeaths = 0
    private var nextPause = LauncherLimits.restartPauseMin

    package init() {}

    /// Returns the pause before the next start of a room that ran for `duration`, in nanoseconds.
    package mutating func pause(afterRunning duration: UInt64) -> UInt64 {
        guard duration < LauncherLimits.quickDeath else {
            self = RestartPolicy()
            return 0
        }
        quickDeaths += 1
        guard quickDeaths > LauncherLimits.restartsAtOnce else { return 0 }
        defer { nextPause = min(nextPause * 2, LauncherLimits.restartPauseMax) }
        return nextPause
    }
}
