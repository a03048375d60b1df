// Observation of a right's state, in those forms of Apple's systems that work without Objective-C (Specs/rights.md).

public import Foundation

extension LARight {
    /// The current state and every later one, in order and without gaps. The sequence ends with the right, which it does not retain. Each
    /// call returns a new sequence for one reader (C-193).
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

    /// Used by the module that provides a publisher.
    package var observable: RightCore { core }
}

// In an extension of `NSObjectProtocol`, `Self` can be the class of the observed object, as on Apple's systems.
extension NSObjectProtocol where Self: LARight {
    /// Calls the handler after each change of the state, until the observation is invalidated or released: Foundation's
    /// `observe(_:options:changeHandler:)`, for `\.state`, the only observable property of a right. The handler is called on any thread,
    /// never concurrently, and not when the right is released, since there is no object left to pass.
    public func observe(
        _ keyPath: KeyPath<Self, LARight.State>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<LARight.State>) -> Void
    ) -> NSKeyValueObservation {
        precondition(keyPath == \Self.state, "only the state of a right can be observed")
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

/// The values that an observer receives: Foundation's type of this name, which Linux lacks.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    /// The options as a bit set.
    public let rawValue: UInt
    /// Creates options from a bit set.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value after the change.
    public static let new = NSKeyValueObservingOptions(rawValue: 1)
    /// The value before the change.
    public static let old = NSKeyValueObservingOptions(rawValue: 2)
    /// Calls the handler with the current value as well; before `observe` returns, unless another change is being delivered.
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)
}

/// One change: Foundation's type of this name, which Linux lacks.
public struct NSKeyValueObservedChange<Value> {
    /// The new value; nil without the option `.new`.
    public let newValue: Value?
    /// The old value; nil without the option `.old`, and in the first call.
    public let oldValue: Value?
}

extension NSKeyValueObservedChange: Sendable where Value: Sendable {}

/// An observation, which ends when it is invalidated or released: Foundation's type of this name, which Linux lacks.
public final class NSKeyValueObservation: NSObject, Sendable {
    private let observation: RightObservation

    init(_ observation: RightObservation) { self.observation = observation }

    deinit { observation.invalidate() }

    /// Ends the observation. A running handler finishes; none starts afterwards.
    public func invalidate() { observation.invalidate() }
}
