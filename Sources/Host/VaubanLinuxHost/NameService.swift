// Users whom no file lists: a directory's, by whatever the system asks for users (Specs/owners.md, section 3).

import Foundation
import Glibc

package final class NameService: Sendable {
    package enum Answer: Hashable, Sendable {
        case named(String)
        /// There is no such user.
        case nobody
        /// The service did not answer, or not in time.
        case silent
    }

    fileprivate struct Entry {
        var answer = Answer.silent
        /// When it was heard; nil where it never was.
        var heard: UInt64?
        /// Who waits for the question that is asked now; nil where none is.
        var waiting: [Wakeup]?
    }

    private let ask: @Sendable (UInt32) -> Answer
    private let now: @Sendable () -> UInt64
    private let state = ThreadMutex(State())

    private struct State {
        var entries: [UInt32: Entry] = [:]
        /// How many questions are asked now.
        var asked = 0
        /// For whom is asked when one of these is answered.
        var queue: [UInt32] = []

        /// The next for whom is asked and somebody waits.
        mutating func next() -> UInt32? {
            while !queue.isEmpty {
                let uid = queue.removeFirst()
                if entries[uid]?.waiting?.isEmpty == false { return uid }
                entries[uid]?.waiting = nil
            }
            return nil
        }
    }

    /// `ask` asks the service and may take any time.
    package init(
        now: @escaping @Sendable () -> UInt64 = { MachineClock.monotonic }, ask: @escaping @Sendable (UInt32) -> Answer = NameService.system
    ) {
        self.ask = ask
        self.now = now
    }

    /// Loads what the system asks, which is code, and no code can be loaded once a room has shut itself in. Nobody is asked.
    package static func load() { NameModules.load() }

    /// What the system says of a uid (getpwuid(3)), whenever that is.
    package static let system: @Sendable (UInt32) -> Answer = { uid in
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        let fault = getpwuid_r(uid, &entry, &buffer, buffer.count, &found)
        guard fault == 0 else { return .silent }
        guard found != nil, let name = entry.pw_name.map({ String(cString: $0) }), !name.isEmpty else { return .nobody }
        return .named(name)
    }

    /// The user's name, in at most `NameLimits.answerTime`. A name that was heard once is answered at once, and asked for again
    /// behind the answer when it is old, so a service that fails or hangs takes nobody away whom it named before.
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
            let thread = Thread { [self] in
                var next: UInt32? = uid
                while let uid = next { next = take(ask(uid), of: uid) }
            }
            thread.stackSize = 1 << 19
            thread.start()
        }
        if let known { return known }
        _ = wakeup?.wait(until: MachineClock.monotonic + NameLimits.answerTime)
        return state.withLock { state in
            state.entries[uid]?.waiting?.removeAll { $0 === wakeup }
            // Nobody waits any more for one that was not asked yet.
            if state.entries[uid]?.waiting?.isEmpty == true, let place = state.queue.firstIndex(of: uid) {
                state.queue.remove(at: place)
                state.entries[uid]?.waiting = nil
            }
            return state.entries[uid]?.answer ?? .silent
        }
    }

    /// Takes an answer, and says for whom is to be asked next.
    private func take(_ answer: Answer, of uid: UInt32) -> UInt32? {
        let (waiting, next): ([Wakeup], UInt32?) = state.withLock { state in
            var entry = state.entries[uid] ?? Entry()
            let waiting = entry.waiting ?? []
            entry.waiting = nil
            // Silence takes no name away; it is asked again after a moment.
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
    /// What may be answered without waiting: a name that was heard once, and for a moment that there is none.
    fileprivate func known(_ now: UInt64) -> NameService.Answer? {
        if case .named = answer { return answer }
        return isFresh(now) ? answer : nil
    }

    fileprivate func isFresh(_ now: UInt64) -> Bool {
        guard let heard else { return false }
        if case .named = answer { return now < heard + NameLimits.nameTime }
        return now < heard + NameLimits.nobodyTime
    }
}

/// The limits of questions to the name service. Times in nanoseconds.
package enum NameLimits {
    /// How long a caller waits for a name that was never heard.
    package static let answerTime: UInt64 = 3_000_000_000
    /// How long a name is believed before it is asked for again.
    package static let nameTime: UInt64 = 300_000_000_000
    /// How long it is believed that there is no such user, or that the service does not answer.
    package static let nobodyTime: UInt64 = 10_000_000_000
    /// Questions that are asked at once.
    package static let askedMax = 16
    /// Answers that are kept.
    package static let keptMax = 4096
}
