// `right.publisher(for: \.state)` as on Apple's systems, over OpenCombine, since Linux has no Combine (C-194). A separate module, so that
// only its users need that package.

internal import Foundation
public import VaubanLocalAuthentication
@_exported public import OpenCombine

extension NSObjectProtocol where Self: LARight {
    /// Returns a publisher of the current state and every later one, in order: Combine's `publisher(for:)`. `\.state` is the only
    /// observable property of a right. The publisher does not retain the right, and finishes with it. Values arrive on any thread.
    public func publisher(for keyPath: KeyPath<Self, LARight.State>) -> RightStatePublisher {
        precondition(keyPath == \Self.state, "only the state of a right can be observed")
        return RightStatePublisher(right: observable)
    }
}

/// The states of one right.
public struct RightStatePublisher: Publisher, Sendable {
    /// The states.
    public typealias Output = LARight.State
    /// It never fails.
    public typealias Failure = Never

    let right: RightCore

    /// Attaches a subscriber, which gets the current state first.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == LARight.State, Downstream.Failure == Never {
        let subscription = StateSubscription(Receiver(state: subscriber.receive, end: { subscriber.receive(completion: .finished) }))
        subscriber.receive(subscription: subscription)
        subscription.begin(right)
    }
}

/// A type-erased subscriber.
private struct Receiver {
    let state: (LARight.State) -> Subscribers.Demand
    let end: () -> Void
}

/// The states for one subscriber, queued until it demands them: no transition is dropped, and there are few.
///
/// `@unchecked Sendable`: mutable state is used under the lock; the subscriber is called outside of it, by one thread at a time.
private final class StateSubscription: Subscription, @unchecked Sendable {
    private let lock = NSLock()
    private var downstream: Receiver?
    private var observation: RightObservation?
    private var demand = Subscribers.Demand.none
    private var states: [LARight.State] = []
    private var isOver = false
    private var isDelivering = false

    init(_ downstream: Receiver) { self.downstream = downstream }

    func begin(_ right: RightCore) {
        let observation = right.observe { [weak self] change in self?.take(change) }
        let isCancelled = lock.withLock {
            if downstream != nil { self.observation = observation }
            return downstream == nil
        }
        if isCancelled { observation.invalidate() }
    }

    func request(_ more: Subscribers.Demand) {
        lock.withLock { demand += more }
        deliverAll()
    }

    func cancel() {
        let (downstream, observation) = lock.withLock {
            defer { (self.downstream, self.observation, states) = (nil, nil, []) }
            return (self.downstream, self.observation)
        }
        observation?.invalidate()
        // Released outside the lock, since deinitializers may run.
        _ = downstream
    }

    private func take(_ change: RightChange) {
        lock.withLock {
            switch change {
            case .initial(let state), .moved(_, let state): states.append(state)
            case .end: isOver = true
            }
        }
        deliverAll()
    }

    private enum Event {
        case state(LARight.State)
        case end
    }

    private func deliverAll() {
        while let (downstream, event) = next() {
            switch event {
            case .state(let state):
                let more = downstream.state(state)
                lock.withLock {
                    demand += more
                    isDelivering = false
                }
            case .end: downstream.end()
            }
        }
    }

    private func next() -> (Receiver, Event)? {
        lock.withLock {
            guard !isDelivering, let downstream else { return nil }
            if let state = states.first {
                guard demand > 0 else { return nil }
                demand -= 1
                states.removeFirst()
                isDelivering = true
                return (downstream, .state(state))
            }
            guard isOver else { return nil }
            (self.downstream, observation) = (nil, nil)
            return (downstream, .end)
        }
    }
}
