public import Foundation
import Glibc
internal import Synchronization
internal import VaubanAuthenticationClient
internal import VaubanLinuxHost

/// What the person could answer with here, and its changes: Apple's `LAEnvironment` (Specs/environment.md). To look at, and not to
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

    /// Held weakly.
    ///
    /// `@unchecked Sendable`: it is only called, on the watch's thread, as this protocol tells whoever conforms to it.
    private struct Listener: @unchecked Sendable {
        weak var observer: (any Observer)?
    }

    private struct Watching: Sendable {
        var listeners: [Listener] = []
        var watch: EnvironmentWatch?
        /// A forked child has its parent's listeners and not its thread.
        var process: pid_t = 0
        /// What the listeners were told last, and what was seen last.
        var told = State.Facts.none
        var seen = State.Facts.none
    }

    /// That of the person whose process this is.
    public static let currentUser = LAEnvironment()

    private let watching = Mutex(Watching())

    private override init() {}

    /// As it is now. Where the service cannot be reached nothing is usable, and the rest is as it was seen last.
    public var state: State { State(look(isReachable: true)) }

    /// Tells the observer of every later change, for as long as somebody else keeps it.
    public func addObserver(_ observer: any Observer) {
        let now = look(isReachable: true)
        watching.withLock { watching in
            watching.listeners.removeAll { $0.observer == nil || $0.observer === observer }
            watching.listeners.append(Listener(observer: observer))
            guard watching.watch == nil || watching.process != getpid() else { return }
            // Read before the watch begins, whose first notice is a look: no change falls between the two.
            watching.told = now
            watching.process = getpid()
            watching.watch = try? EnvironmentWatch(service: { try? Service.current() }, look: { [weak self] in self?.tell(isReachable: $0) })
            watching.watch?.start()
        }
    }

    public func removeObserver(_ observer: any Observer) {
        watching.withLock { $0.listeners.removeAll { $0.observer == nil || $0.observer === observer } }
        endUnheard()
    }

    // MARK: The watch

    private func look(isReachable: Bool) -> State.Facts {
        let found = isReachable ? State.Facts.current() : nil
        return watching.withLock { watching in
            if let found { watching.seen = found } else { watching.seen.canBeAsked = false }
            return watching.seen
        }
    }

    private func tell(isReachable: Bool) {
        let new = look(isReachable: isReachable)
        let (old, listeners) = watching.withLock { watching in
            defer { watching.told = new }
            watching.listeners.removeAll { $0.observer == nil }
            return (watching.told, watching.listeners)
        }
        if listeners.isEmpty { return endUnheard() }
        guard old != new else { return }
        for listener in listeners { listener.observer?.environment(self, stateDidChangeFromOldState: State(old)) }
    }

    /// Nobody listens: the watch ends, and with it its place among the person's watches.
    private func endUnheard() {
        let watch = watching.withLock { watching in
            // A forked child would end its parent's.
            guard watching.listeners.isEmpty, watching.process == getpid() else { return EnvironmentWatch?.none }
            defer { watching.watch = nil }
            return watching.watch
        }
        watch?.end()
    }
}

extension LAEnvironment.Observer {
    /// To hear of nothing is allowed, as in Objective-C.
    public func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State) {}
}
