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
        /// When each subject last had a line, in nanoseconds since start, and its uses since.
        var subjects: [Subject: (told: UInt64, further: Int)] = [:]
        /// What the journal has yet to be told, in its order: the first use of a subject for a while.
        var due: [(subject: Subject, use: AccessUse)] = []
        /// Uses of subjects for which there is no room.
        var leftOut: [UInt32: Int] = [:]
    }

    /// Apart from what programs cause otherwise: lines about that must not use up the room for these.
    private let journal: BoundedLog
    private let waiting = ThreadMutex(Waiting())
    private let waiters = ThreadMutex<[UInt32: [ObjectIdentifier: Wakeup]]>([:])
    /// The canaries that were seen while they were open.
    private let known = ThreadMutex<[UInt32: Set<[UInt8]>]>([:])

    init(logger: Logger) { journal = BoundedLog(logger) }

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
            guard waiting.subjects[subject] != nil || Self.hasRoom(for: user, in: &waiting.subjects, at: now) else {
                waiting.leftOut[user, default: 0] += 1
                return
            }
            waiting.subjects[subject] = (now, waiting.subjects[subject]?.further ?? 0)
            waiting.due.append((subject, use))
        }
    }

    /// Returns whether one more program of a user is told apart. Those that have nothing to tell are forgotten.
    private static func hasRoom(for user: UInt32, in subjects: inout [Subject: (told: UInt64, further: Int)], at now: UInt64) -> Bool {
        func hasRoom() -> Bool { subjects.keys.count { $0.user == user } < KeychainLimits.alertProgramsMax }
        guard !hasRoom() else { return true }
        subjects = subjects.filter { now < $0.value.told + KeychainLimits.alertLineNanoseconds || $0.value.further > 0 }
        return hasRoom()
    }

    /// Writes what was added into the journal, without the names of items: a line for each program, which counts what it did since the one
    /// before.
    func report() {
        let lines = waiting.withLock { waiting in
            defer { waiting.due = [] }
            return waiting.due.map { subject, use in
                let further = (waiting.subjects[subject]?.further ?? 0) + (waiting.leftOut.removeValue(forKey: subject.user) ?? 0)
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
