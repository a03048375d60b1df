// How users learn of the use of canary items, besides the access log (Specs/canaries.md): the journal, and the prompt agents that wait.

internal import Logging
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanRoomLog

final class CanaryAlertQueue: Sendable {
    /// Who is told apart: a program of a user. One that uses canaries all the time takes no line from another.
    private struct Subject: Hashable {
        let user: UInt32
        /// The path; nil where programs are not told apart.
        let program: String?
    }

    private struct Waiting {
        /// Against whose share each subject counts, when it last had a line, in nanoseconds since start, and its uses since.
        var subjects: [Subject: (owner: UInt32, told: UInt64, further: Int)] = [:]
        /// What the journal has yet to be told, in its order: the first use of a subject for a while.
        var due: [(subject: Subject, use: AccessUse)] = []
        /// By owner, uses of subjects for which there is no room.
        var leftOut: [UInt32: Int] = [:]

        /// Returns whether one more subject of an owner is told apart. Those that have nothing to tell are forgotten.
        mutating func hasRoom(for owner: UInt32, at now: UInt64) -> Bool {
            guard subjects.values.count(where: { $0.owner == owner }) >= KeychainLimits.alertProgramsMax else { return true }
            subjects = subjects.filter { now < $0.value.told + KeychainLimits.alertLineNanoseconds || $0.value.further > 0 }
            return subjects.values.count(where: { $0.owner == owner }) < KeychainLimits.alertProgramsMax
        }
    }

    /// Apart from what programs cause otherwise: lines about that must not use up the room for these.
    private let journal: BoundedLog
    private let accounts: Accounts
    private let waiting = ThreadMutex(Waiting())
    private let waiters = ThreadMutex<[UInt32: [ObjectIdentifier: Wakeup]]>([:])
    /// The canaries that were seen while they were open.
    private let known = ThreadMutex<[UInt32: Set<[UInt8]>]>([:])

    init(logger: Logger, accounts: Accounts = .ofThisMachine) {
        journal = BoundedLog(logger, accounts: accounts)
        self.accounts = accounts
    }

    // MARK: Which items are canaries

    /// Remembers a canary by its identity, under which a locked row can be known.
    func remember(_ item: [UInt8], of user: UInt32) {
        known.withLock { known in
            guard known[user].map({ $0.count < KeychainLimits.canariesKnownMax }) ?? (known.count < KeychainLimits.logsMax) else { return }
            known[user, default: []].insert(item)
        }
    }

    func forget(_ item: [UInt8], of user: UInt32) { known.withLock { _ = $0[user]?.remove(item) } }

    func knows(_ item: [UInt8], of user: UInt32) -> Bool { known.withLock { $0[user]?.contains(item) ?? false } }

    // MARK: Alerts

    func add(_ use: AccessUse, of user: UInt32) {
        let now = MachineClock.boot
        let subject = Subject(user: user, program: use.caller.program?.path)
        waiting.withLock { waiting in
            if let known = waiting.subjects[subject], now < known.told + KeychainLimits.alertLineNanoseconds {
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
            waiting.subjects[subject]?.told = now
            waiting.due.append((subject, use))
        }
    }

    /// Writes what was added into the journal, without the names of items: a line for each program, which counts what it did since the one
    /// before.
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

    // MARK: Who waits

    func addWaiter(of user: UInt32) throws -> Wakeup {
        let wakeup = try Wakeup()
        try waiters.withLock { waiters in
            guard waiters[user, default: [:]].count < KeychainLimits.alertWaitersMax else {
                throw Refusal(.unavailable, "too many programs wait for alerts already")
            }
            waiters[user, default: [:]][ObjectIdentifier(wakeup)] = wakeup
        }
        return wakeup
    }

    func removeWaiter(_ wakeup: Wakeup, of user: UInt32) {
        waiters.withLock { waiters in
            waiters[user]?[ObjectIdentifier(wakeup)] = nil
            if waiters[user]?.isEmpty == true { waiters[user] = nil }
        }
    }

    func wakeWaiters(of user: UInt32) { waiters.withLock { for wakeup in $0[user, default: [:]].values { wakeup.signal() } } }
}
