// What a right is at a moment, apart from the class that applications subclass: what runs holds this and not the right, so that letting
// go of the right ends its authorization.

internal import Foundation
internal import Synchronization

/// What happens to a right.
package enum RightChange: Sendable {
    /// The state that the right has when somebody begins to look.
    case initial(LARight.State)
    case moved(from: LARight.State, to: LARight.State)
    /// The right is no more.
    case end
}

/// One who looks, until they say that it is enough.
package final class RightObservation: Sendable {
    private typealias Handler = @Sendable (RightChange) -> Void
    private let handler: Mutex<Handler?>

    init(_ handler: @escaping @Sendable (RightChange) -> Void) { self.handler = Mutex(handler) }

    /// Lets go of the handler, which may hold whoever holds the right; outside the lock, since all of that may end with it.
    package func invalidate() {
        let ended = handler.withLock { handler in
            defer { handler = nil }
            return handler
        }
        withExtendedLifetime(ended) {}
    }

    var isOver: Bool { handler.withLock { $0 == nil } }

    func tell(_ change: RightChange) { handler.withLock { $0 }?(change) }
}

package final class RightCore: Sendable {
    /// Changes are told outside the lock and in their order, by whoever finds nobody telling: whoever is told may call the right.
    private struct Notifying: Sendable {
        let change: RightChange
        let observations: [RightObservation]
        /// Held until it is told, since it is what a notification is about.
        let right: LARight?
    }

    private struct Content {
        var state = LARight.State.unknown
        var tag = 0
        var context: LAContext?
        var isEnded = false
        var observations: [RightObservation] = []
        var untold: [Notifying] = []
        var isTelling = false
        weak var right: LARight?

        mutating func move(to new: LARight.State) {
            guard new != state else { return }
            tell(.moved(from: state, to: new))
            state = new
        }

        mutating func tell(_ change: RightChange) {
            observations.removeAll { $0.isOver }
            untold.append(Notifying(change: change, observations: observations, right: right))
        }

        /// Nothing that was shown counts once the state says so: the enclave's end comes first.
        mutating func endAuthorization() {
            context?.invalidate()
            context = nil
        }
    }

    private let content = Mutex(Content())
    private let gate: any RightGate

    init(_ gate: any RightGate) { self.gate = gate }

    func belong(to right: LARight) { content.withLock { $0.right = right } }

    var kind: LAAuthenticationRequirement.Kind { gate.kind }

    var state: LARight.State { content.withLock { $0.state } }

    var tag: Int {
        get { content.withLock { $0.tag } }
        set { content.withLock { $0.tag = newValue } }
    }

    /// What the user was shown to, while that counts.
    var authorization: LAContext? { content.withLock { $0.state == .authorized ? $0.context : nil } }

    // MARK: The cycle

    func check() throws { try gate.check() }

    /// Asks the user; `answer` is called on another thread.
    func authorize(_ reason: String, _ answer: @escaping @Sendable ((any Error)?) -> Void) {
        let context = LAContext()
        do {
            guard !reason.isEmpty else { throw LAContext.parameterError }
            try begin(context)
        } catch {
            RightCalls.begin { answer(error) }
            return
        }
        gate.ask(context, reason) { [self] error in
            // From here on calls with it find what was shown, and never the user.
            context.interactionNotAllowed = true
            // One that the application ended says so, however far it had come.
            answer(settle(context, isShown: error == nil) ? error : LAError(.appCancel))
        }
    }

    /// A new question ends what the last one allowed.
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
        tellAll()
        if let fault { throw fault }
    }

    /// False where the question was ended meanwhile, and what was shown counts for nothing.
    private func settle(_ context: LAContext, isShown: Bool) -> Bool {
        let isKept = content.withLock { content in
            guard content.context === context, content.state == .authorizing else { return false }
            if !isShown { content.endAuthorization() }
            content.move(to: isShown ? .authorized : .notAuthorized)
            return true
        }
        if !isKept { context.invalidate() }
        tellAll()
        return isKept
    }

    func deauthorize() {
        content.withLock { content in
            content.endAuthorization()
            content.move(to: .notAuthorized)
        }
        tellAll()
    }

    /// The enclave says that what this context had is over.
    func lost(_ context: LAContext) {
        content.withLock { content in
            guard content.context === context, content.state == .authorized else { return }
            content.endAuthorization()
            content.move(to: .notAuthorized)
        }
        tellAll()
    }

    /// The right is let go.
    func end() {
        content.withLock { content in
            content.isEnded = true
            content.endAuthorization()
            if content.state != .unknown { content.move(to: .notAuthorized) }
            content.tell(.end)
            content.observations = []
        }
        tellAll()
    }

    // MARK: Telling

    /// Begins with the present state, and misses nothing from there on. Handlers are called one at a time.
    package func observe(_ handler: @escaping @Sendable (RightChange) -> Void) -> RightObservation {
        let observation = RightObservation(handler)
        content.withLock { content in
            content.untold.append(Notifying(change: .initial(content.state), observations: [observation], right: nil))
            if content.isEnded {
                content.untold.append(Notifying(change: .end, observations: [observation], right: nil))
            } else {
                content.observations.append(observation)
            }
        }
        tellAll()
        return observation
    }

    private func tellAll() {
        while let telling = next() {
            for observation in telling.observations { observation.tell(telling.change) }
            if case .moved(_, let state) = telling.change, let name = state.notification {
                NotificationCenter.default.post(name: name, object: telling.right)
            }
            done()
        }
    }

    private func next() -> Notifying? {
        content.withLock { content in
            guard !content.isTelling, !content.untold.isEmpty else { return nil }
            content.isTelling = true
            return content.untold.removeFirst()
        }
    }

    private func done() { content.withLock { $0.isTelling = false } }
}

/// How a right comes to know whether its user may.
protocol RightGate: Sendable {
    /// What the right requires.
    var kind: LAAuthenticationRequirement.Kind { get }
    /// Throws where asking could not succeed; asks nobody.
    func check() throws
    /// Has the user asked with a context of this one question, and answers on another thread.
    func ask(_ context: LAContext, _ reason: String, _ answer: @escaping @Sendable ((any Error)?) -> Void)
}
