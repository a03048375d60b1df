// Looks up users that no file lists, such as a directory's, in the system's name service (Specs/owners.md, section 3).

import Glibc

package final class NameService: Sendable {
    package enum Answer: Hashable, Sendable {
        case named(String)
        /// There is no such user.
        case nobody
        /// The service did not reply in time.
        case silent
    }

    fileprivate struct Entry {
        var answer = Answer.silent
        /// When the last answer arrived; nil if none has.
        var heard: UInt64?
        /// The threads that wait for the query in progress; nil if there is none.
        var waiting: [Wakeup]?
    }

    private let ask: @Sendable (UInt32) -> Answer
    private let now: @Sendable () -> UInt64
    private let state = ThreadMutex(State())

    private struct State {
        var entries: [UInt32: Entry] = [:]
        /// The number of queries in progress.
        var asked = 0
        /// Uids to query when one of these has its answer.
        var queue: [UInt32] = []

        /// Takes the next uid for which a thread still waits.
        mutating func next() -> UInt32? {
            while !queue.isEmpty {
                let uid = queue.removeFirst()
                if entries[uid]?.waiting?.isEmpty == false { return uid }
                entries[uid]?.waiting = nil
            }
            return nil
        }
    }

    /// Creates a name service. `ask` queries the system's service and may take any time.
    package init(
        now: @escaping @Sendable () -> UInt64 = { MachineClock.monotonic }, ask: @escaping @Sendable (UInt32) -> Answer = NameService.system
    ) {
        self.ask = ask
        self.now = now
    }

    /// Loads the modules that look up users, since no code can be loaded after hardening. Sends no query.
    package static func load() { NameModules.load() }

    /// Loads the modules that look up hosts, for the same reason.
    package static func loadForHosts() { NameModules.load(databases: ["hosts"]) }

    /// Queries the system for a uid (getpwuid(3)), however long that takes.
    package static let system: @Sendable (UInt32) -> Answer = { uid in
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        let fault = getpwuid_r(uid, &entry, &buffer, buffer.count, &found)
        guard fault == 0 else { return .silent }
        guard found != nil, let name = entry.pw_name.map({ String(cString: $0) }), !name.isEmpty else { return .nobody }
        return .named(name)
    }

    /// Returns the user's name within `NameLimits.answerTime`. A name that is known for a few minutes is queried again in the background,
    /// and one that is known for long before it is returned. A service that fails or hangs does not lock out a user whom it named before.
    package func user(_ uid: UInt32) -> Answer {
        let wakeup = try? Wakeup()
        let (known, isAsking): (Answer?, Bool) = state.withLock { state in
            var entry = state.entries[uid] ?? Entry()
            let known = entry.known(now())
            if entry.isFresh(now()) { return (known, false) }
            let isFirst = entry.waiting == nil, mayAsk = isFirst && state.asked < NameLimits.askedMax
            if known == nil {
                guard let wakeup else { return (.silent, false) }
                entry.waiting = (entry.waiting ?? []) + [wakeup]
                if isFirst && !mayAsk { state.queue.append(uid) }
            } else if mayAsk {
                entry.waiting = []
            }
            if mayAsk { state.asked += 1 }
            if state.entries.count >= NameLimits.keptMax { state.entries = state.entries.filter { $0.value.waiting != nil } }
            state.entries[uid] = entry
            return (known, mayAsk)
        }
        if isAsking {
            do throws(SystemError) {
                try HostThread.start { [self] in answerAll(from: uid) { ask($0) } }
            } catch {
                answerAll(from: uid) { _ in .silent }
            }
        }
        if let known { return known }
        _ = wakeup?.wait(until: MachineClock.monotonic + NameLimits.answerTime)
        return state.withLock { state in
            // A service that hangs costs one wait, and not one at each connection: its silence counts as its answer.
            if state.entries[uid]?.waiting != nil, case .named = state.entries[uid]?.answer { state.entries[uid]?.heard = now() }
            state.entries[uid]?.waiting?.removeAll { $0 === wakeup }
            // If no thread waits any more, a query that has not begun is dropped.
            if state.entries[uid]?.waiting?.isEmpty == true, let place = state.queue.firstIndex(of: uid) {
                state.queue.remove(at: place)
                state.entries[uid]?.waiting = nil
            }
            return state.entries[uid]?.answer ?? .silent
        }
    }

    /// Answers this query and then those in the queue.
    private func answerAll(from first: UInt32, _ answer: (UInt32) -> Answer) {
        var next: UInt32? = first
        while let uid = next { next = take(answer(uid), of: uid) }
    }

    /// Records an answer. Returns the uid to query next.
    private func take(_ answer: Answer, of uid: UInt32) -> UInt32? {
        let (waiting, next): ([Wakeup], UInt32?) = state.withLock { state in
            var entry = state.entries[uid] ?? Entry()
            let waiting = entry.waiting ?? []
            entry.waiting = nil
            // A missing reply does not remove a name, which is queried again a little later.
            if case .named = entry.answer, answer == .silent {} else { entry.answer = answer }
            entry.heard = now()
            state.entries[uid] = entry
            let next = state.next()
            if next == nil { state.asked -= 1 }
            return (waiting, next)
        }
        for wakeup in waiting { wakeup.signal() }
        return next
    }
}

extension NameService.Entry {
    /// Returns the answer that needs no wait: a known name, or for a short time that there is none.
    fileprivate func known(_ now: UInt64) -> NameService.Answer? {
        // An older name may be that of an earlier user with this uid.
        if case .named = answer, let heard, now < heard + NameLimits.oldNameTime { return answer }
        return isFresh(now) ? answer : nil
    }

    fileprivate func isFresh(_ now: UInt64) -> Bool {
        guard let heard else { return false }
        if case .named = answer { return now < heard + NameLimits.nameTime }
        return now < heard + NameLimits.nobodyTime
    }
}

/// The limits of queries to the name service. Times in nanoseconds.
package enum NameLimits {
    /// How long a caller waits for an unknown name.
    package static let answerTime: UInt64 = 3_000_000_000
    /// How long a name is used before it is queried again.
    package static let nameTime: UInt64 = 300_000_000_000
    /// How long a name is used without waiting for the service. After that it is used only if the service does not reply.
    package static let oldNameTime: UInt64 = 3_600_000_000_000
    /// How long the answers "no such user" and "no reply" are used.
    package static let nobodyTime: UInt64 = 10_000_000_000
    /// Queries in progress at once.
    package static let askedMax = 16
    /// Answers that are stored.
    package static let keptMax = 4096
}
