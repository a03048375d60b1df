// Adds up notices about private keys until they are passed on: in the enclave until keychaind accepts them, in keychaind until they are
// written.

/// Uses of private keys by any number of programs. Its size is limited for each user, and no program can displace another: if one program
/// uses too many keys, the rest is counted without naming the key; if there are too many programs, the rest is only a number.
package struct KeyUseTally: Sendable {
    private struct Program: Hashable {
        let user: UInt32
        /// The program without its parents, so that a program gets no additional space when other programs start it.
        let identity: CallerIdentity?
    }

    private struct Use: Hashable {
        let key: UsedKey?
        let action: KeyUseAction
        let outcome: KeyUseOutcome
    }

    private struct Counted {
        /// The program as notices name it: without parents if processes with different parents are counted together.
        var identity: CallerIdentity?
        var teamIsTrusted: Bool
        var counts: [Use: Int64] = [:]
    }

    private var programs: [Program: Counted] = [:]
    private var unrecorded: [UInt32: Int64] = [:]

    /// The most programs of one user that are distinguished, and the most different uses of one program.
    package static let programsMax = 64
    package static let usesMax = 128

    package init() {}

    package var isEmpty: Bool { programs.isEmpty && unrecorded.isEmpty }

    package mutating func add(_ notice: KeyUseNotice) {
        if notice.unrecorded > 0 { addUnrecorded(notice.unrecorded, of: notice.user) }
        let program = Program(user: notice.user, identity: notice.identity?.withoutParents)
        for use in notice.uses { add(use, of: program, in: notice) }
    }

    private mutating func add(_ use: CountedKeyUse, of program: Program, in notice: KeyUseNotice) {
        if programs[program] == nil, programs.keys.count(where: { $0.user == program.user }) >= Self.programsMax {
            return addUnrecorded(use.count, of: program.user)
        }
        var counted = programs[program] ?? Counted(identity: notice.identity, teamIsTrusted: notice.teamIsTrusted)
        if counted.identity != notice.identity { counted.identity = program.identity }
        counted.teamIsTrusted = notice.teamIsTrusted
        let named = Use(key: use.key, action: use.action, outcome: use.outcome)
        let hasRoom = counted.counts[named] != nil || counted.counts.count < Self.usesMax
        let kept = hasRoom ? named : Use(key: nil, action: use.action, outcome: use.outcome)
        counted.counts[kept] = Self.sum(counted.counts[kept], use.count)
        programs[program] = counted
    }

    private mutating func addUnrecorded(_ count: Int64, of user: UInt32) { unrecorded[user] = Self.sum(unrecorded[user], count) }

    private static func sum(_ known: Int64?, _ more: Int64) -> Int64 { min((known ?? 0) + more, CountedKeyUse.countMax) }

    /// Returns everything as notices, and empties the tally.
    package mutating func take() -> [KeyUseNotice] {
        var notices: [KeyUseNotice] = []
        for (program, counted) in programs {
            let uses = counted.counts.map { CountedKeyUse(key: $0.key, action: $0.action, outcome: $0.outcome, count: $1) }
            for start in stride(from: 0, to: uses.count, by: KeyUseNotice.usesMax) {
                notices.append(
                    KeyUseNotice(
                        user: program.user, identity: counted.identity, teamIsTrusted: counted.teamIsTrusted,
                        uses: Array(uses[start..<min(start + KeyUseNotice.usesMax, uses.count)])))
            }
        }
        for (user, count) in unrecorded {
            notices.append(KeyUseNotice(user: user, identity: nil, teamIsTrusted: false, unrecorded: count, uses: []))
        }
        self = KeyUseTally()
        return notices
    }
}
