// Looking at a right's state as it changes, in the shapes of Apple's systems that have no Objective-C in them (Specs/rights.md).

public import Foundation

extension LARight {
    /// The present state and every later one, in order and without a gap; it ends with the right, which it does not keep. Each call gives a
    /// sequence of its own, for one reader (C-193).
    public var states: AsyncStream<State> {
        let (stream, continuation) = AsyncStream.makeStream(of: State.self, bufferingPolicy: .unbounded)
        let observation = core.observe { change in
            switch change {
            case .initial(let state), .moved(_, let state): continuation.yield(state)
            case .end: continuation.finish()
            }
        }
        continuation.onTermination = { _ in observation.invalidate() }
        return stream
    }

    /// For the module that makes a publisher of it.
    package var observable: RightCore { core }
}

// `NSObjectProtocol` is where `Self` can stand for the class of the one who is looked at, as it does on Apple's systems.
extension NSObjectProtocol where Self: LARight {
    /// Calls the handler after each change of the state until the observation is invalidated or let go: Foundation's
    /// `observe(_:options:changeHandler:)`, for `\.state`, which is the one property of a right that is observed. The handler may
    /// be called on any thread, by one thread at a time, and not at the right's own end, when there is nobody left to hand over.
    public func observe(
        _ keyPath: KeyPath<Self, LARight.State>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<LARight.State>) -> Void
    ) -> NSKeyValueObservation {
        precondition(keyPath == \Self.state, "only the state of a right is observed")
        let observation = core.observe { [weak self] change in
            guard let self else { return }
            switch change {
            case .initial(let state):
                guard options.contains(.initial) else { return }
                changeHandler(self, NSKeyValueObservedChange(newValue: options.contains(.new) ? state : nil, oldValue: nil))
            case .moved(let old, let new):
                changeHandler(
                    self,
                    NSKeyValueObservedChange(newValue: options.contains(.new) ? new : nil, oldValue: options.contains(.old) ? old : nil))
            case .end: break
            }
        }
        return NSKeyValueObservation(observation)
    }
}

/// Which values an observer is given: Foundation's type of this name, which Linux does not have.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value after the change.
    public static let new = NSKeyValueObservingOptions(rawValue: 1)
    /// The value before the change.
    public static let old = NSKeyValueObservingOptions(rawValue: 2)
    /// A first call at once, before `observe` returns unless another change is just being told.
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)
}

/// One change: Foundation's type of this name, which Linux does not have.
public struct NSKeyValueObservedChange<Value> {
    /// Where `.new` was asked for.
    public let newValue: Value?
    /// Where `.old` was asked for, and there was one.
    public let oldValue: Value?
}

extension NSKeyValueObservedChange: Sendable where Value: Sendable {}

/// Observes until it is invalidated or let go: Foundation's type of this name, which Linux does not have.
public final class NSKeyValueObservation: NSObject, Sendable {
    private let observation: RightObservation

    init(_ observation: RightObservation) { self.observation = observation }

    deinit { observation.invalidate() }

    /// No handler is called that has not begun.
    public func invalidate() { observation.invalidate() }
}
