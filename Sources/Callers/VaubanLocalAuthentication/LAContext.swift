package import VaubanLinuxHost
public import VaubanSecurity
internal import VaubanUserModel

/// Asks the user to show that they are there: Apple's `LAContext` (C-113 … C-136). What was shown stays with the context:
/// keychain calls that it is given to (`kSecUseAuthenticationContext`) ask for no more than is missing, until it is
/// invalidated, the keychain locks or the process ends.
///
/// `@unchecked Sendable`: what changes lies behind `core`'s lock; a subclass that adds storage answers for it, as on Apple's
/// systems.
open class LAContext: NSObject, @unchecked Sendable {
    private let core = ContextCore()

    public override init() {
        super.init()
    }

    // A running evaluation holds the core and not the context, so this is reached and ends it.
    deinit { core.invalidate() }

    // MARK: Evaluating

    /// Whether the policy can succeed here at all; shows nothing and asks nobody (C-115). The answer can change at any
    /// time, so an evaluation may fail all the same.
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        do throws(LAError) {
            try core.canEvaluate(policy)
            return true
        } catch let failure {
            error?.pointee = failure as NSError
            return false
        }
    }

    /// Shows the reason under the caller's name and answers on a private queue (C-116). The reason must not be empty
    /// (C-119). The context must be kept until the answer.
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        Self.answering(reply) { [core] () throws(LAError) in try core.evaluate(policy, localizedReason) }
    }

    /// The same as a call that waits without holding a thread of the caller's.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluatePolicy(policy, localizedReason: localizedReason) { Self.resume(continuation, $0, $1) }
        }
    }

    /// Has the user show what an access control asks for an operation, before the operation itself (C-129). What the context has
    /// already counts.
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        Self.answering(reply) { [core] () throws(LAError) in
            // The numbers are the same on both sides, so there is none without a name.
            guard let known = ControlOperation(rawValue: Int64(operation.rawValue)) else { throw LAContext.parameterError }
            try core.evaluate(accessControl.control, known, localizedReason)
        }
    }

    /// The same as a call that waits without holding a thread of the caller's.
    @discardableResult
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String
    ) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluateAccessControl(accessControl, operation: operation, localizedReason: localizedReason) {
                Self.resume(continuation, $0, $1)
            }
        }
    }

    /// Ends what runs with `appCancel`, and every later use with `invalidContext` (C-128).
    open func invalidate() { core.invalidate() }

    // MARK: Credentials

    /// Gives keychain calls with this context the application's own password for items whose access control has
    /// `.applicationPassword` (C-133); nil takes it back. False if the context is invalid, if the password is empty or has
    /// more than 1024 bytes, or if the type is another.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        guard type == .applicationPassword else { return false }
        guard let credential else { return core.set(nil) }
        guard let held = ApplicationPassword(credential) else { return false }
        return core.set(held)
    }

    /// Whether a password was given and not taken back.
    open func isCredentialSet(_ type: LACredentialType) -> Bool { type == .applicationPassword && core.applicationPassword != nil }

    // MARK: What the user sees

    /// The title of the fallback button; nil is the system's own, and the empty one takes the button away.
    open var localizedFallbackTitle: String? {
        get { core.settings.fallbackTitle }
        set { core.change { $0.fallbackTitle = newValue } }
    }

    /// The title of the cancel button; nil and the empty one are the system's own.
    open var localizedCancelTitle: String? {
        get { core.settings.cancelTitle }
        set { core.change { $0.cancelTitle = newValue } }
    }

    /// The reason of keychain calls that give none of their own.
    open var localizedReason: String {
        get { core.settings.localizedReason }
        set { core.change { $0.localizedReason = newValue } }
    }

    /// Makes an evaluation fail with `notInteractive`, and a keychain call with errSecInteractionNotAllowed, where the
    /// user would have to be asked.
    open var interactionNotAllowed: Bool {
        get { core.settings.interactionNotAllowed }
        set { core.change { $0.interactionNotAllowed = newValue } }
    }

    /// For how many seconds after a finger unlocked the device nobody is asked again; 0, and at most five minutes.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { core.settings.reuseDuration }
        set { core.change { $0.reuseDuration = newValue } }
    }

    /// Has no effect, as on Apple's systems: the device decides how often a finger may fail.
    open var maxBiometryFailures: NSNumber? {
        get { core.settings.biometryFailures.map { NSNumber(value: $0) } }
        set { core.change { $0.biometryFailures = newValue?.intValue } }
    }

    // MARK: What is here

    /// The kind of sensor that this machine has for Vauban, whether or not it can be used now.
    open var biometryType: LABiometryType { .here }

    /// Stands for the enrolled fingers after a successful evaluation by a finger, or a successful look at that policy; another
    /// value than a kept one means that they have changed (C-127).
    open var evaluatedPolicyDomainState: Data? { core.domainState }

    /// What is enrolled now.
    open var domainState: LADomainState { .current() }

    // MARK: -

    /// A thread of its own for each, since it waits for a user: a shared pool would be used up by a few.
    private static func answering(
        _ reply: @escaping @Sendable (Bool, (any Error)?) -> Void, _ body: @escaping @Sendable () throws(LAError) -> Void
    ) {
        let thread = Thread {
            do throws(LAError) {
                try body()
                reply(true, nil)
            } catch let failure {
                reply(false, failure)
            }
        }
        thread.stackSize = 1 << 19
        thread.start()
    }

    private static func resume(_ continuation: CheckedContinuation<Bool, any Error>, _ success: Bool, _ error: (any Error)?) {
        if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: success) }
    }
}

extension LAContext: KeychainAuthenticationContext {
    package var applicationPassword: ApplicationPassword? { core.applicationPassword }
    package var authorization: [UInt8]? { core.authorization }
    package func begin(_ call: CallCancellation) -> Bool { core.begin(call) }
    package func end(_ call: CallCancellation) { core.end(call) }
}
