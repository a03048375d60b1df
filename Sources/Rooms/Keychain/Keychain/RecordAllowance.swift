// How many log records the uses of one program may take, so that it cannot soon push out those of all others.

internal import VaubanKeychainWire

/// A program may have `logBurst` log records at once, and then one each `logInterval`; all programs of a user together have more. A program
/// that has taken half of that has its changes collected for a second, as reads are; one that has taken all has the uses of a second
/// summed in one log record.
struct RecordAllowance {
    /// When all that was taken will have come back, in nanoseconds since start.
    private var programs: [AccessProgram?: UInt64] = [:]
    private var user: UInt64 = 0

    /// Returns whether a change of the program may have a log record of its own.
    func coversChange(of program: AccessProgram?, at now: UInt64) -> Bool {
        let taken = Self.taken(programs[program] ?? 0, at: now)
        return taken < KeychainLimits.logBurst * KeychainLimits.logInterval / 2 && Self.taken(user, at: now) < Self.userBurst
    }

    /// Takes a log record. Returns false if the program, or the user, has no more.
    mutating func take(for program: AccessProgram?, at now: UInt64) -> Bool {
        let taken = Self.taken(programs[program] ?? 0, at: now)
        let takenByUser = Self.taken(user, at: now)
        guard taken < KeychainLimits.logBurst * KeychainLimits.logInterval, takenByUser < Self.userBurst else { return false }
        if programs[program] == nil, programs.count >= KeychainLimits.logProgramsMax { forget(at: now) }
        programs[program] = now + taken + KeychainLimits.logInterval
        user = now + takenByUser + KeychainLimits.logUserInterval
        return true
    }

    private static var userBurst: UInt64 { KeychainLimits.logUserBurst * KeychainLimits.logUserInterval }

    private static func taken(_ end: UInt64, at now: UInt64) -> UInt64 { end > now ? end - now : 0 }

    /// Forgets the programs that have everything back, or the one that is nearest to it.
    private mutating func forget(at now: UInt64) {
        programs = programs.filter { $0.value > now }
        guard programs.count >= KeychainLimits.logProgramsMax, let least = programs.min(by: { $0.value < $1.value }) else { return }
        programs[least.key] = nil
    }
}
