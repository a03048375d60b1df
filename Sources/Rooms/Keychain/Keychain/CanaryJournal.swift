internal import Logging
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRoomLog

/// The lines of the journal about uses of canary items (Specs/canaries.md), besides the access log.
final class CanaryJournal: Sendable {
    /// A program of a user; each has its own lines in the journal, so one that uses canaries constantly does not displace another.
    private struct Subject: Hashable {
        let user: UInt32
        /// The path; nil where programs are not distinguished.
        let program: String?
    }

    private struct Waiting {
        /// The owner whose quota each counts against, the time of its last line (nanoseconds since boot), and its uses since.
        var subjects: [Subject: (owner: UInt32, reported: UInt64, further: Int)] = [:]
        /// First uses that are still to be written to the journal, in order.
        var due: [(subject: Subject, use: AccessUse)] = []
        /// By owner, uses of subjects for which there is no room.
        var leftOut: [UInt32: Int] = [:]

        /// Returns whether one more subject of an owner can be distinguished. Subjects with nothing to report are removed.
        mutating func hasRoom(for owner: UInt32, at now: UInt64) -> Bool {
            guard subjects.values.count(where: { $0.owner == owner }) >= KeychainLimits.alertProgramsMax else { return true }
            subjects = subjects.filter { now < $0.value.reported + KeychainLimits.alertLineNanoseconds || $0.value.further > 0 }
            return subjects.values.count(where: { $0.owner == owner }) < KeychainLimits.alertProgramsMax
        }
    }

    /// Separate from the room's other log, so that lines that programs cause cannot use up its quota.
    private let journal: BoundedLog
    private let accounts: Accounts
    private let waiting = ThreadMutex(Waiting())

    init(logger: Logger, accounts: Accounts = .ofThisMachine) {
        journal = BoundedLog(logger, accounts: accounts)
        self.accounts = accounts
    }

    func add(_ use: AccessUse, of user: UInt32) {
        let now = MachineClock.boot
        let subject = Subject(user: user, program: use.caller.program?.path)
        waiting.withLock { waiting in
            if let known = waiting.subjects[subject], now < known.reported + KeychainLimits.alertLineNanoseconds {
                waiting.subjects[subject]?.further += 1
                return
            }
            if waiting.subjects[subject] == nil {
                let owner = accounts.owner(of: user)
                guard waiting.hasRoom(for: owner, at: now) else {
                    waiting.leftOut[owner, default: 0] += 1
                    return
                }
                waiting.subjects[subject] = (owner, now, 0)
            }
            waiting.subjects[subject]?.reported = now
            waiting.due.append((subject, use))
        }
    }

    /// Writes the added uses to the journal, without the names of items: a line for each program, with the number of its uses since its
    /// previous line.
    func report() {
        let lines = waiting.withLock { waiting in
            defer { waiting.due = [] }
            return waiting.due.map { subject, use in
                guard let known = waiting.subjects[subject] else { return (subject, use, 0) }
                let further = known.further + (waiting.leftOut.removeValue(forKey: known.owner) ?? 0)
                waiting.subjects[subject]?.further = 0
                return (subject, use, further)
            }
        }
        for (subject, use, further) in lines {
            var line: Logger.Metadata = ["action": "\(use.action)", "outcome": "\(use.outcome)"]
            if let program = subject.program { line["program"] = "\(PlainLine.path(program, charactersMax: 200))" }
            if further > 0 { line["further"] = "\(further)" }
            journal.warning("a canary item was used", about: subject.user, line)
        }
    }
}
