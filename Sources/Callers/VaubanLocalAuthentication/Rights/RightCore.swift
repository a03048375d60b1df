// The state of a right, apart from the class that applications subclass: running calls retain this and not the right, so that releasing the
// right ends its authorization.

internal import Foundation
internal import Synchronization

/// An event of a right.
package enum RightChange: Sendable {
    /// The state at the start of an observation.
    case initial(LARight.State)
    case moved(from: LARight.State, to: LARight.State)
    /// The right was released.
    case end
}

/// An observation, until it is invalidated.
package final class RightObservation: Sendable {
    private typealias Handler = @Sendable (RightChange) -> Void
    private let handler: Mutex<Handler?>

    init(_ handler: @escaping @Sendable (RightChange) -> Void) { self.handler = Mutex(handler) }

    /// Releases the handler, which may own the right; outside the lock, since deinitializers may run.
    package func invalidate() {
        let ended = handler.withLock { handler in
            defer { handler = nil }
            return handler
        }
        withExtendedLifetime(ended) {}
    }

    var isOver: Bool { handler.withLock { $0 == nil } }

    func deliver(_ change: RightChange) { handler.withLock { $0 }?(change) }
}

package final class RightCore: Sendable {
    /// Delivers changes outside the lock and in order, on the thread that finds no other delivering: a handler may call the right.
    private struct Delivery: Sendable {
        let change: RightChange
        let observations: [RightObservation]
        /// Retained until delivery, since it is the notification's object.
        let right: LARight?
    }

    private struct Content {
        var state = LARight.State.unknown
        var tag = 0
        var context: LAContext?
        var isEnded = false
        var observations: [RightObservation] = []
        var pending: [Delivery] = []
        var isDelivering = false
        weak var right: LARight?

        mutating func move(to new: LARight.State) {
            guard new != state else { return }
            deliver(.moved(from: state, to: new))
            state = new
        }

        mutating func deliver(_ change: RightChange) {
            observations.removeAll { $0.isOver }
            pending.append(Delivery(change: change, observations: observations, right: right))
        }

        /// Ends the authorization. The enclave revokes it before the state changes.
        mutating func endAuthorization() {
            context?.invalidate()
            context = nil
        }
    }

    private let content = Mutex(Content())
    private let gate: any RightGate

    init(_ gate: any RightGate) { self.gate = gate }

    func attach(to right: LARight) { content.withLock { $0.right = right } }

    var kind: LAAuthenticationRequirement.Kind { gate.kind }

    var state: LARight.State { content.withLock { $0.state } }

    var tag: Int {
        get { content.withLock { $0.tag } }
        set { content.withLock { $0.tag = newValue } }
    }

    /// The authorized context, while the right is authorized.
    var authorization: LAContext? { content.withLock { $0.state == .authorized ? $0.context : nil } }

    // MARK: Authorizing

    func check() throws { try gate.check() }

    /// Prompts the user; calls `answer` on another thread.
    func authorize(_ reason: String, _ answer: @escaping @Sendable ((any Error)?) -> Void) {
        let context = LAContext()
        do {
            guard !reason.isEmpty else { throw LAContext.parameterError }
            try begin(context)
        } catch {
            RightCalls.begin { answer(error) }
            return
        }
        gate.ask(in: context, reason: reason) { [self] error in
            // From now on, calls with this context use the authentication and never prompt.
            context.interactionNotAllowed = true
            // If the application deauthorized the right meanwhile, the error reports that.
            answer(finish(context, isAuthenticated: error == nil) ? error : LAError(.appCancel))
        }
    }

    /// A new prompt revokes the previous authorization.
    private func begin(_ context: LAContext) throws(LAError) {
        let fault = content.withLock { content -> LAError? in
            guard !content.isEnded else { return LAError(.invalidContext) }
            guard content.state != .authorizing else {
                return LAError(.systemCancel, userInfo: [NSLocalizedDescriptionKey: "The right is being authorized already."])
            }
            content.endAuthorization()
            content.context = context
            content.move(to: .authorizing)
            return nil
        }
        deliverAll()
        if let fault { throw fault }
    }

    /// Returns false if the prompt was withdrawn meanwhile; then the authentication does not count.
    private func finish(_ context: LAContext, isAuthenticated: Bool) -> Bool {
        let isKept = content.withLock { content in
            guard content.context === context, content.state == .authorizing else { return false }
            if !isAuthenticated { content.endAuthorization() }
            content.move(to: isAuthenticated ? .authorized : .notAuthorized)
            return true
        }
        if !isKept { context.invalidate() }
        deliverAll()
        return isKept
    }

    func deauthorize() {
        content.withLock { content in
            content.endAuthorization()
            content.move(to: .notAuthorized)
        }
        deliverAll()
    }

    /// Records that the enclave has revoked this context's authorization.
    func revoke(_ context: LAContext) {
        content.withLock { content in
            guard content.context === context, content.state == .authorized else { return }
            content.endAuthorization()
            content.move(to: .notAuthorized)
        }
        deliverAll()
    }

    /// Ends the authorization as the right is released.
    func end() {
        content.withLock { content in
            content.isEnded = true
            content.endAuthorization()
            if content.state != .unknown { content.move(to: .notAuthorized) }
            content.deliver(.end)
            content.observations = []
        }
        deliverAll()
    }

    // MARK: Delivery

    /// Delivers the current state and every later change. Handlers are called one at a time.
    package func observe(_ handler: @escaping @Sendable (RightChange) -> Void) -> RightObservation {
        let observation = RightObservation(handler)
        content.withLock { content in
            content.pending.append(Delivery(change: .initial(content.state), observations: [observation], right: nil))
            if content.isEnded {
                content.pending.append(Delivery(change: .end, observations: [observation], right: nil))
            } else {
                content.observations.append(observation)
            }
        }
        deliverAll()
        return observation
    }

    private func deliverAll() {
        while let delivery = next() {
            for observation in delivery.observations { observation.deliver(delivery.change) }
            if case .moved(_, let state) = delivery.change, let name = state.notification {
                NotificationCenter.default.post(name: name, object: delivery.right)
            }
            done()
        }
    }

    private func next() -> Delivery? {
        content.withLock { content in
            guard !content.isDelivering, !content.pending.isEmpty else { return nil }
            content.isDelivering = true
            return content.pending.removeFirst()
        }
    }

    private func done() { content.withLock { $0.isDelivering = false } }
}

/// The part of a right that decides whether the user is authorized.
protocol RightGate: Sendable {
    /// The right's requirement.
    var kind: LAAuthenticationRequirement.Kind { get }
    /// Throws if a prompt could not succeed, without prompting.
    func check() throws
    /// Prompts the user with a new context for this prompt, and answers on another thread.
    func ask(in context: LAContext, reason: String, answer: @escaping @Sendable ((any Error)?) -> Void)
}
