public import Foundation

/// The right to use a resource of the application: Apple's `LARight` (C-177 … C-198). An application authorizes it and deauthorizes it.
/// Releasing the right ends its authorization, so retain it while you need it.
///
/// Each authorization prompts, with a separate `LAContext`. Call any method from any thread; none blocks the caller's.
///
/// `@unchecked Sendable`: mutable state is protected by `core`'s lock; a subclass that adds storage must protect it, as on Apple's systems.
open class LARight: NSObject, @unchecked Sendable {
    /// The state of a right: Apple's `LARight.State`.
    public enum State: Int, Sendable {
        /// No authorization was requested yet.
        case unknown = 0
        /// A prompt is on the screen.
        case authorizing = 1
        /// The user has satisfied the requirement.
        case authorized = 2
        /// The authorization failed or ended.
        case notAuthorized = 3
    }

    let core: RightCore

    /// Creates a right that a fingerprint or the passcode authorizes.
    public override init() {
        core = RightCore(RequirementGate(.presence))
        super.init()
        core.attach(to: self)
    }

    /// Creates a right with this requirement.
    public init(requirement: LAAuthenticationRequirement) {
        core = RightCore(RequirementGate(requirement.kind))
        super.init()
        core.attach(to: self)
    }

    init(gate: any RightGate) {
        core = RightCore(gate)
        super.init()
        core.attach(to: self)
    }

    // A running authorization retains the core and not the right, so this runs and ends it.
    deinit { core.end() }

    /// The current state (C-192).
    public var state: State { core.state }

    /// A number for the application's own use; 0 by default.
    open var tag: Int {
        get { core.tag }
        set { core.tag = newValue }
    }

    // MARK: Authorizing

    /// Prompts the user with this reason (C-184). Ends a previous authorization first.
    /// - Throws: An `LAError` unless the user satisfies the requirement; `LAError.systemCancel` if a prompt of this right is already on the
    ///   screen; for a persisted right that was removed or is locked, the keychain's error (`NSOSStatusErrorDomain`).
    open func authorize(localizedReason: String) async throws {
        try await withCheckedThrowingContinuation { continuation in
            authorize(localizedReason: localizedReason) { RightCalls.resume(continuation, $0) }
        }
    }

    /// Passes nil to `completion` once the right is authorized, else an error, on a private queue.
    open func authorize(localizedReason: String, completion: @escaping @Sendable ((any Error)?) -> Void) {
        core.authorize(localizedReason, completion)
    }

    /// Checks, without a prompt, that `authorize` could succeed now (C-183).
    /// - Throws: An `LAError` if `authorize` could not succeed now: `passcodeNotSet`, `biometryNotEnrolled`, or `notInteractive` if nothing
    ///   can show a prompt; for a persisted right that was removed, errSecItemNotFound.
    open func checkCanAuthorize() async throws {
        try await withCheckedThrowingContinuation { continuation in checkCanAuthorize { RightCalls.resume(continuation, $0) } }
    }

    /// Passes nil to `completion` if `authorize` could succeed now, else an error, on a private queue.
    open func checkCanAuthorize(completion: @escaping @Sendable ((any Error)?) -> Void) {
        RightCalls.begin { [core] in
            do {
                try core.check()
                completion(nil)
            } catch {
                completion(error)
            }
        }
    }

    /// Ends the authorization and withdraws a prompt; the right can be authorized again (C-188, C-191).
    open func deauthorize() async { core.deauthorize() }

    /// Ends the authorization, then calls `completion` on a private queue.
    open func deauthorize(completion: @escaping @Sendable () -> Void) {
        core.deauthorize()
        RightCalls.begin(completion)
    }
}

extension LARight {
    /// Posted to the default center after a right was authorized; its object is the right (C-195).
    public static let didBecomeAuthorized = Notification.Name("LARightDidBecomeAuthorizedNotification")

    /// Posted to the default center after a right became not authorized: an authorization failed, or an existing one ended. Its object is
    /// the right, unless the right was released.
    public static let didBecomeUnauthorized = Notification.Name("LARightDidBecomeUnauthorizedNotification")
}

extension Notification.Name {
    /// `LARight.didBecomeAuthorized` under Apple's name for notifications.
    public static var didBecomeAuthorized: Notification.Name { LARight.didBecomeAuthorized }

    /// `LARight.didBecomeUnauthorized` under Apple's name for notifications.
    public static var didBecomeUnauthorized: Notification.Name { LARight.didBecomeUnauthorized }
}

extension LARight.State {
    var notification: Notification.Name? {
        switch self {
        case .authorized: LARight.didBecomeAuthorized
        case .notAuthorized: LARight.didBecomeUnauthorized
        case .unknown, .authorizing: nil
        }
    }
}

/// Runs calls of rights that wait for a room, off the threads of Swift's tasks. None of them waits for the user, unless the program itself
/// needs consent (Specs/access-groups.md).
enum RightCalls {
    private static let queue = DispatchQueue(label: "app.vauban.rights", attributes: .concurrent)

    static func begin(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in queue.async { continuation.resume(with: Result(catching: body)) } }
    }

    /// Runs a call and passes its result to a completion handler.
    static func run<Value: Sendable>(
        _ completion: @escaping @Sendable (Value?, (any Error)?) -> Void, _ body: @escaping @Sendable () throws -> Value
    ) {
        queue.async {
            do { completion(try body(), nil) } catch { completion(nil, error) }
        }
    }

    static func resume(_ continuation: CheckedContinuation<Void, any Error>, _ error: (any Error)?) {
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
    }
}
