public import Foundation
import Glibc
internal import Synchronization
internal import VaubanAuthenticationClient
internal import VaubanLinuxHost

/// What the user could answer with here, and its changes: Apple's `LAEnvironment` (Specs/environment.md). To look at, and not to
/// decide by: what an item needs is said by its access control.
///
/// `@unchecked Sendable`: what changes lies behind a lock.
public final class LAEnvironment: NSObject, @unchecked Sendable {
    /// Hears of changes: Apple's `LAEnvironment.Observer`.
    public protocol Observer: NSObjectProtocol {
        /// The state is another than `oldState`; the environment has the new one already. Called on a thread of Vauban's, by one
        /// thread at a time.
        func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: State)
    }

    /// `@unchecked Sendable`: an observer is only called, on the watch's thread, as its protocol tells whoever conforms to it.
    private struct Registration: @unchecked Sendable { let observer: any Observer }
    /// The same, held weakly.
    private struct Listener: @unchecked Sendable { weak var observer: (any Observer)? }

    private struct Watching: Sendable {
        private var listeners: [Listener] = []
        var watch: EnvironmentListener?
        /// Of the watch; one that was ended tells nobody any more.
        var number = 0
        /// A forked child has its parent's listeners and not its thread.
        var process: pid_t = 0
        /// What the listeners were told last, and what was seen last.
        var told = State.Facts.none
        var seen = State.Facts.none

        /// For the caller to keep until it holds the lock no more: whoever lets go of an observer last runs that one's end.
        var living: [Registration] { listeners.compactMap { $0.observer.map { Registration(observer: $0) } } }
        var isHeard: Bool { !listeners.isEmpty }

        mutating func listen(_ observers: [Registration]) { listeners = observers.map { Listener(observer: $0.observer) } }

        mutating func note(_ found: State.Facts?) -> State.Facts {
            if let found { seen = found } else { seen.canBeAsked = false }
            return seen
        }
    }

    /// That of the user whose process this is.
    public static let currentUser = LAEnvironment()

    private let watching = Mutex(Watching())

    private override init() {}

    /// As it is now. Where the service cannot be reached nothing is usable, and the rest is as it was seen last.
    public var state: State {
        // What an observer reads when it hears that somebody stopped the service must not start it again.
        let found = State.Facts.current(startingService: watching.withLock { $0.watch == nil })
        return State(watching.withLock { $0.note(found) })
    }

    /// Tells the observer of every later change, for as long as somebody else keeps it.
    public func addObserver(_ observer: any Observer) {
        let found = State.Facts.current()
        let added = Registration(observer: observer)
        let before = watching.withLock { watching in
            let before = watching.living
            watching.listen(before.filter { $0.observer !== added.observer } + [added])
            // Read before the watch begins, whose first notice is a look: no change falls between the two.
            let now = watching.note(found)
            if watching.watch == nil || watching.process != getpid() { begin(&watching, now) }
            return before
        }
        withExtendedLifetime(before) {}
    }

    public func removeObserver(_ observer: any Observer) {
        let before = watching.withLock { watching in
            let before = watching.living
            watching.listen(before.filter { $0.observer !== observer })
            return before
        }
        endUnheard()
        withExtendedLifetime(before) {}
    }

    // MARK: The watch

    private func begin(_ watching: inout Watching, _ now: State.Facts) {
        watching.told = now
        watching.process = getpid()
        watching.number += 1
        let number = watching.number
        watching.watch = try? EnvironmentListener(
            service: { try? Service.current() }, look: { [weak self] in self?.look(isReachable: $0, forWatch: number) ?? true })
        watching.watch?.start()
    }

    /// Looks, and tells what is new. False where nothing could be seen, which is worth another look.
    private func look(isReachable: Bool, forWatch number: Int) -> Bool {
        let found = isReachable ? State.Facts.current(startingService: false) : nil
        let (old, new, listeners) = watching.withLock { watching in
            guard watching.number == number else { return (State.Facts.none, State.Facts.none, [Registration]()) }
            let (old, listeners) = (watching.told, watching.living)
            watching.told = watching.note(found)
            watching.listen(listeners)
            return (old, watching.told, listeners)
        }
        if listeners.isEmpty {
            endUnheard()
        } else if old != new {
            for listener in listeners { listener.observer.environment(self, stateDidChangeFromOldState: State(old)) }
        }
        return found != nil
    }

    /// Nobody listens: the watch ends, and with it its place among the user's watches.
    private func endUnheard() {
        let watch = watching.withLock { watching in
            // A forked child would end its parent's.
            guard !watching.isHeard, watching.process == getpid() else { return EnvironmentListener?.none }
            defer {
                watching.watch = nil
                watching.number += 1
            }
            return watching.watch
        }
        watch?.end()
    }
}

extension LAEnvironment.Observer {
    /// To hear of nothing is allowed, as in Objective-C.
    public func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State) {}
}
