public import Foundation

/// Whether this user may use something of the application's: Apple's `LARight` (C-177 … C-198). It is asked for, held, and given up; it
/// ends
/// when it is let go, so whoever needs it keeps it.
///
/// Each authorization asks anew, with an `LAContext` of its own. Every call may come from any thread, and none waits on the caller's.
///
/// `@unchecked Sendable`: what changes lies behind `core`'s lock; a subclass that adds storage answers for it, as on Apple's systems.
open class LARight: NSObject, @unchecked Sendable {
    /// Where a right is in its cycle: Apple's `LARight.State`.
    public enum State: Int, Sendable {
        /// Nobody was asked yet.
        case unknown = 0
        /// The user is asked now.
        case authorizing = 1
        /// The user has shown what the right requires, and it was not given up since.
        case authorized = 2
        /// The user has not, or the right was given up.
        case notAuthorized = 3
    }

    let core: RightCore

    /// A right that a finger or the passcode authorizes.
    public override init() {
        core = RightCore(RequirementGate(.presence))
        super.init()
        core.belong(to: self)
    }

    public init(requirement: LAAuthenticationRequirement) {
        core = RightCore(RequirementGate(requirement.kind))
        super.init()
        core.belong(to: self)
    }

    init(gate: any RightGate) {
        core = RightCore(gate)
        super.init()
        core.belong(to: self)
    }

    // Whatever runs holds the core and not the right, so this is reached and ends it.
    deinit { core.end() }

    /// Where the right is now (C-192).
    public var state: State { core.state }

    /// The application's own number for the right; 0 unless it says otherwise.
    open var tag: Int {
        get { core.tag }
        set { core.tag = newValue }
    }

    // MARK: Authorizing

    /// Asks the user, who is shown the reason (C-184). Throws unless the right is authorized then: an `LAError` of the user, and of a
    /// kept right that is gone or locked what the keychain says (`NSOSStatusErrorDomain`). An authorized right is no longer so while it
    /// asks again; one that asks already refuses with `systemCancel`.
    open func authorize(localizedReason: String) async throws {
        try await withCheckedThrowingContinuation { continuation in
            authorize(localizedReason: localizedReason) { RightCalls.resume(continuation, $0) }
        }
    }

    /// The same, which answers on a private queue; nil means authorized.
    open func authorize(localizedReason: String, completion: @escaping @Sendable ((any Error)?) -> Void) {
        core.authorize(localizedReason, completion)
    }

    /// Throws where `authorize` could not succeed now: no finger is enrolled, no passcode is set, nobody can be asked (C-183). Asks nobody.
    open func checkCanAuthorize() async throws {
        try await withCheckedThrowingContinuation { continuation in checkCanAuthorize { RightCalls.resume(continuation, $0) } }
    }

    /// The same, which answers on a private queue; nil means that it could.
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

    /// Gives the right up, and ends a question that is open; it can be asked for again (C-188, C-191).
    open func deauthorize() async { core.deauthorize() }

    /// The same, which answers on a private queue.
    open func deauthorize(completion: @escaping @Sendable () -> Void) {
        core.deauthorize()
        RightCalls.begin(completion)
    }
}

extension LARight {
    /// Posted to the default centre after a right became authorized; the right is its object (C-195).
    public static let didBecomeAuthorized = Notification.Name("LARightDidBecomeAuthorizedNotification")

    /// Posted to the default centre after a right became not authorized: it was refused, given up, or its authorization ended. The right is
    /// its object, unless it ended because the right was let go.
    public static let didBecomeUnauthorized = Notification.Name("LARightDidBecomeUnauthorizedNotification")
}

extension Notification.Name {
    /// The same as `LARight.didBecomeAuthorized`.
    public static var didBecomeAuthorized: Notification.Name { LARight.didBecomeAuthorized }

    /// The same as `LARight.didBecomeUnauthorized`.
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

/// Calls of rights that wait for a room, away from the threads of Swift's tasks. None of them waits for a user, unless the program is one
/// that the user is asked about (Specs/access-groups.md).
enum RightCalls {
    private static let queue = DispatchQueue(label: "app.vauban.rights", attributes: .concurrent)

    static func begin(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in queue.async { continuation.resume(with: Result(catching: body)) } }
    }

    /// The completion form of the same.
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
