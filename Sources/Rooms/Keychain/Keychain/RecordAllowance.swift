// How much of the access log the uses of one program may take, so that it cannot quickly displace those of all others.

internal import VaubanKeychainWire

/// A program may take `logBurst` units of the log at once, and then one per `logInterval`; all programs of a user together may take more. A
/// log record takes one unit for each `logUnitBytes` of its size. Once a program has taken half of its burst, its changes are collected for
/// a second, as reads are; once it has taken all of it, its uses within a second are summed in one log record of one unit.
package struct RecordAllowance: Sendable {
    /// When all units that were taken will be available again, in nanoseconds since start.
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

    /// Returns whether all units that were taken are available again.
    package func isWhole(at now: UInt64) -> Bool { user <= now && programs.values.allSatisfy { $0 <= now } }

    /// Returns whether both the program and the user have a unit left.
    func hasUnits(for program: AccessProgram?, at now: UInt64) -> Bool {
        Self.taken(programs[program] ?? 0, at: now) + KeychainLimits.logInterval <= Self.burst
            && Self.taken(user, at: now) + KeychainLimits.logUserInterval <= Self.userBurst
    }

    /// Takes units for a log record, or for an addition to one. Returns false, and takes none, if the program or the user has fewer.
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
            // So many groups in one second need not be distinguished, and filtering them each time would take long.
            if summed.count >= KeychainLimits.logSumsMax / 2 { summed = [:] }
        }
        summed[group] = now
    }

    /// Lets no uses wait for the end of a second.
    mutating func endWaits() { summed = [:] }

    /// Returns whether a second has passed since.
    private static func isOver(_ began: UInt64, at now: UInt64) -> Bool { now >= began + KeychainLimits.logSumNanoseconds }

    private static var burst: UInt64 { KeychainLimits.logBurst * KeychainLimits.logInterval }
    private static var userBurst: UInt64 { KeychainLimits.logUserBurst * KeychainLimits.logUserInterval }

    private static func taken(_ end: UInt64, at now: UInt64) -> UInt64 { end > now ? end - now : 0 }

    /// Forgets the programs whose units are all available again; if too many remain, also the one that is closest to that.
    private mutating func forget(at now: UInt64) {
        programs = programs.filter { $0.value > now }
        guard programs.count >= KeychainLimits.logProgramsMax, let least = programs.min(by: { $0.value < $1.value }) else { return }
        programs[least.key] = nil
    }
}
