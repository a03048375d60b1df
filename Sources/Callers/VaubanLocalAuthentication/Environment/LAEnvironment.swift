public import Foundation
import Glibc
internal import Synchronization
internal import VaubanAuthenticationClient
internal import VaubanLinuxHost

/// The authentication mechanisms available here and their changes: Apple's `LAEnvironment` (Specs/environment.md). For display only: items
/// state their requirements with their access control.
///
/// `@unchecked Sendable`: mutable state is protected by a lock.
public final class LAEnvironment: NSObject, @unchecked Sendable {
    /// An observer of changes: Apple's `LAEnvironment.Observer`.
    public protocol Observer: NSObjectProtocol {
        /// The state has changed from `oldState`; the environment already has the new one. Called on a thread of Vauban's, never
        /// concurrently.
        func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: State)
    }

    /// `@unchecked Sendable`: an observer is only called, on the listener's thread, as its protocol documents.
    private struct Registration: @unchecked Sendable { let observer: any Observer }
    /// A weak reference to an observer. `@unchecked Sendable` for the same reason.
    private struct WeakObserver: @unchecked Sendable { weak var observer: (any Observer)? }

    private struct Observation: Sendable {
        private var observers: [WeakObserver] = []
        var listener: EnvironmentListener?
        /// The listener's number; one that was ended notifies no observers.
        var number = 0
        /// A forked child inherits its parent's observers, but not the thread.
        var process: pid_t = 0
        /// The facts that observers were last reported, and the facts that were last read.
        var reported = State.Facts.none
        var lastRead = State.Facts.none

        /// Retained by the caller until it releases the lock: releasing an observer's last reference runs its deinitializer.
        var liveRegistrations: [Registration] { observers.compactMap { $0.observer.map { Registration(observer: $0) } } }
        var isObserved: Bool { !observers.isEmpty }

        mutating func set(_ registrations: [Registration]) { observers = registrations.map { WeakObserver(observer: $0.observer) } }

        mutating func record(_ found: State.Facts?) -> State.Facts {
            if let found { lastRead = found } else { lastRead.canBePrompted = false }
            return lastRead
        }
    }

    /// The environment of the user who runs this process.
    public static let currentUser = LAEnvironment()

    private let observation = Mutex(Observation())

    private override init() {}

    /// The current state. If the service cannot be reached, no mechanism is usable, and the rest is as last read.
    public var state: State {
        // An observer that reads the state after the service was stopped must not start it again.
        let found = State.Facts.current(startingService: observation.withLock { $0.listener == nil })
        return State(observation.withLock { $0.record(found) })
    }

    /// Adds an observer of later changes, which is held weakly.
    public func addObserver(_ observer: any Observer) {
        let found = State.Facts.current()
        let added = Registration(observer: observer)
        let before = observation.withLock { observation in
            let before = observation.liveRegistrations
            observation.set(before.filter { $0.observer !== added.observer } + [added])
            // Read before the listener starts, whose first notice reads again: no change is lost between the two.
            let now = observation.record(found)
            if observation.listener == nil || observation.process != getpid() { begin(&observation, now) }
            return before
        }
        withExtendedLifetime(before) {}
    }

    /// Removes an observer.
    public func removeObserver(_ observer: any Observer) {
        let before = observation.withLock { observation in
            let before = observation.liveRegistrations
            observation.set(before.filter { $0.observer !== observer })
            return before
        }
        endIfUnobserved()
        withExtendedLifetime(before) {}
    }

    // MARK: The listener

    private func begin(_ observation: inout Observation, _ now: State.Facts) {
        observation.reported = now
        observation.process = getpid()
        observation.number += 1
        let number = observation.number
        observation.listener = try? EnvironmentListener(
            service: { try? Service.current() }, onChange: { [weak self] in self?.readState(isReachable: $0, forListener: number) ?? true })
        try? observation.listener?.start()
    }

    /// Reads the state and notifies observers of a change. Returns false if it could not be read, so that the listener tries again.
    private func readState(isReachable: Bool, forListener number: Int) -> Bool {
        let found = isReachable ? State.Facts.current(startingService: false) : nil
        let (old, new, listeners) = observation.withLock { observation in
            guard observation.number == number else { return (State.Facts.none, State.Facts.none, [Registration]()) }
            let (old, listeners) = (observation.reported, observation.liveRegistrations)
            observation.reported = observation.record(found)
            observation.set(listeners)
            return (old, observation.reported, listeners)
        }
        if listeners.isEmpty {
            endIfUnobserved()
        } else if old != new {
            for listener in listeners { listener.observer.environment(self, stateDidChangeFromOldState: State(old)) }
        }
        return found != nil
    }

    /// Ends the listener if there are no observers, which frees its place among the user's listeners.
    private func endIfUnobserved() {
        let listener = observation.withLock { observation in
            // A forked child would end its parent's listener.
            guard !observation.isObserved, observation.process == getpid() else { return EnvironmentListener?.none }
            defer {
                observation.listener = nil
                observation.number += 1
            }
            return observation.listener
        }
        listener?.end()
    }
}

extension LAEnvironment.Observer {
    /// Implementing this is optional, as in Objective-C.
    public func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State) {}
}
