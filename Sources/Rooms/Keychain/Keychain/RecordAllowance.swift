// How much of the access log the uses of one program may take, so that it cannot soon push out those of all others.

internal import VaubanKeychainWire

/// A program may have `logBurst` units of the log at once, and then one each `logInterval`; all programs of a user together have more. A
/// log record takes one for each `logUnitBytes` of its size. A program that has taken half of that has its changes collected for a second,
/// as reads are; one that has taken all has the uses of a second summed in one log record of one unit.
package struct RecordAllowance: Sendable {
    /// When all that was taken will have come back, in nanoseconds since start.
    private var programs: [AccessProgram?: UInt64] = [:]
    private var user: UInt64 = 0
    /// When uses of a program that had no more units last had a log record, in nanoseconds since start.
    private var summed: [UseGroup: UInt64] = [:]

    package init() {}

    /// Returns whether a change of the program may have a log record of its own.
    func coversChange(of program: AccessProgram?, at now: UInt64) -> Bool {
        let taken = Self.taken(programs[program] ?? 0, at: now)
        return taken < Self.burst / 2 && Self.taken(user, at: now) < Self.userBurst
    }

    /// Returns whether all that was taken has come back.
    package func isWhole(at now: UInt64) -> Bool { user <= now && programs.values.allSatisfy { $0 <= now } }

    /// Returns whether the program, and the user, have a unit.
    func hasUnits(for program: AccessProgram?, at now: UInt64) -> Bool {
        Self.taken(programs[program] ?? 0, at: now) + KeychainLimits.logInterval <= Self.burst
            && Self.taken(user, at: now) + KeychainLimits.logUserInterval <= Self.userBurst
    }

    /// Takes units for a log record, or for more of one. Returns false, and takes none, if the program, or the user, has fewer.
    mutating func take(_ units: UInt64, for program: AccessProgram?, at now: UInt64) -> Bool {
        let taken = Self.taken(programs[program] ?? 0, at: now) + units * KeychainLimits.logInterval
        let takenByUser = Self.taken(user, at: now) + units * KeychainLimits.logUserInterval
        guard taken <= Self.burst, takenByUser <= Self.userBurst else { return false }
        if programs[program] == nil, programs.count >= KeychainLimits.logProgramsMax { forget(at: now) }
        programs[program] = now + taken
        user = now + takenByUser
        return true
    }

    /// Returns whether uses of a program that has no more units may have a log record all the same: the first one in a second.
    func coversSum(of group: UseGroup, at now: UInt64) -> Bool { summed[group].map { Self.isOver($0, at: now) } ?? true }

    mutating func noteSum(of group: UseGroup, at now: UInt64) {
        if summed.count >= KeychainLimits.logSumsMax {
            summed = summed.filter { !Self.isOver($0.value, at: now) }
            // So many in one second need not be distinguished, and searching them each time would take long.
            if summed.count >= KeychainLimits.logSumsMax / 2 { summed = [:] }
        }
        summed[group] = now
    }

    /// Has no uses wait for the end of a second.
    mutating func endWaits() { summed = [:] }

    /// Returns whether a second has passed since.
    private static func isOver(_ began: UInt64, at now: UInt64) -> Bool { now >= began + KeychainLimits.logSumNanoseconds }

    private static var burst: UInt64 { KeychainLimits.logBurst * KeychainLimits.logInterval }
    private static var userBurst: UInt64 { KeychainLimits.logUserBurst * KeychainLimits.logUserInterval }

    private static func taken(_ end: UInt64, at now: UInt64) -> UInt64 { end > now ? end - now : 0 }

    /// Forgets the programs that have everything back, or the one that is nearest to it.
    private mutating func forget(at now: UInt64) {
        programs = programs.filter { $0.value > now }
        guard programs.count >= KeychainLimits.logProgramsMax, let least = programs.min(by: { $0.value < $1.value }) else { return }
        programs[least.key] = nil
    }
}
