package import VaubanLinuxHost
public import VaubanSecurity
internal import Synchronization
internal import VaubanUserModel

/// Authenticates the user: Apple's `LAContext` (C-113 … C-136). Keychain calls that get the context (`kSecUseAuthenticationContext`) reuse
/// its authentication and prompt only for what is missing, until the context is invalidated, the keychain locks, or the process ends.
///
/// `@unchecked Sendable`: mutable state is protected by `core`'s lock; a subclass that adds storage must protect it, as on Apple's systems.
open class LAContext: NSObject, @unchecked Sendable {
    private let core = ContextCore()

    /// Creates a context without any authentication.
    public override init() {
        super.init()
    }

    // A running evaluation retains the context, so this ends only its authorization.
    deinit { core.invalidate() }

    // MARK: Evaluating

    /// Returns whether evaluating the policy could succeed now, without a prompt (C-115). The answer can change at any time, so an
    /// evaluation may still fail.
    ///
    /// - Parameters:
    ///   - policy: How the user would authenticate.
    ///   - error: Receives an `LAError` otherwise: `passcodeNotSet`, `biometryNotAvailable`, `biometryNotEnrolled`, `biometryLockout`,
    ///     `companionNotAvailable`, `notInteractive` if nothing can show a prompt, `invalidContext`, or `systemCancel` if Vauban does not
    ///     answer.
    @discardableResult
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        do throws(LAError) {
            try core.canEvaluate(policy)
            return true
        } catch let failure {
            error?.pointee = failure as NSError
            return false
        }
    }

    /// Prompts the user with this reason under the caller's name, and calls `reply` on a private queue (C-116). Passes an `LAError` on
    /// failure. The reason must not be empty (C-119). The context lives at least until `reply` has returned.
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        runOnThread(reply) { [core] () throws(LAError) in try core.evaluate(policy, localizedReason) }
    }

    /// Prompts the user with this reason under the caller's name. Returns true.
    /// - Throws: An `LAError`: `userCancel`, `authenticationFailed`, `passcodeNotSet`, `biometryNotEnrolled`, `notInteractive` if nothing
    ///   can show a prompt, `systemCancel` if the keychain was locked or Vauban does not answer, `invalidContext` and `appCancel` after
    ///   `invalidate()`; code -1001 for an empty reason.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluatePolicy(policy, localizedReason: localizedReason) { Self.resume(continuation, success: $0, error: $1) }
        }
    }

    /// Authenticates the user for an operation with this access control, ahead of the operation (C-129). Calls `reply` on a private queue.
    /// Factors that the context already has count. The context lives at least until `reply` has returned.
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        runOnThread(reply) { [core] () throws(LAError) in
            // The numbers are the same on both sides, so every operation has one.
            guard let known = ControlOperation(rawValue: Int64(operation.rawValue)) else { throw LAContext.parameterError }
            try core.evaluate(accessControl.control, for: known, reason: localizedReason)
        }
    }

    /// Authenticates the user for an operation with this access control, ahead of the operation. Returns true.
    /// - Throws: An `LAError`, as for ``evaluatePolicy(_:localizedReason:)``.
    @discardableResult
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String
    ) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluateAccessControl(accessControl, operation: operation, localizedReason: localizedReason) {
                Self.resume(continuation, success: $0, error: $1)
            }
        }
    }

    /// Invalidates the context: running evaluations end with `appCancel`, and later uses fail with `invalidContext` (C-128).
    open func invalidate() { core.invalidate() }

    // MARK: Credentials

    /// Sets the application password for items whose access control has `.applicationPassword` (C-133), for keychain calls with this
    /// context; nil removes it. Returns false if the context is invalid, if the password is empty or longer than 1024 bytes, or for another
    /// type.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        guard type == .applicationPassword else { return false }
        guard let credential else { return core.set(nil) }
        guard let held = ApplicationPassword(credential) else { return false }
        return core.set(held)
    }

    /// Returns whether a credential of this type is set.
    open func isCredentialSet(_ type: LACredentialType) -> Bool { type == .applicationPassword && core.applicationPassword != nil }

    // MARK: Prompts

    /// The title of the fallback button; nil for the system's title. An empty title removes the button.
    open var localizedFallbackTitle: String? {
        get { core.settings.fallbackTitle }
        set { core.change { $0.fallbackTitle = newValue } }
    }

    /// The title of the cancel button; nil or empty for the system's title.
    open var localizedCancelTitle: String? {
        get { core.settings.cancelTitle }
        set { core.change { $0.cancelTitle = newValue } }
    }

    /// The reason for keychain calls that provide none.
    open var localizedReason: String {
        get { core.settings.localizedReason }
        set { core.change { $0.localizedReason = newValue } }
    }

    /// Makes an evaluation fail with `notInteractive`, and a keychain call with errSecInteractionNotAllowed, instead of prompting the user.
    open var interactionNotAllowed: Bool {
        get { core.settings.interactionNotAllowed }
        set { core.change { $0.interactionNotAllowed = newValue } }
    }

    /// The number of seconds after an unlock by fingerprint during which no prompt is needed; 0 by default, at most five minutes.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { core.settings.reuseDuration }
        set { core.change { $0.reuseDuration = newValue } }
    }

    /// Has no effect, as on Apple's systems: the device decides how often a fingerprint may fail.
    open var maxBiometryFailures: NSNumber? {
        get { core.settings.biometryFailures.map { NSNumber(value: $0) } }
        set { core.change { $0.biometryFailures = newValue?.intValue } }
    }

    // MARK: Biometry

    /// The machine's biometric sensor, whether or not it can be used now.
    open var biometryType: LABiometryType { .here }

    /// A hash of the enrolled fingerprints, 32 bytes, after a successful evaluation by fingerprint, or a successful check of that policy;
    /// nil before. A changed value means that the enrollment has changed (C-127).
    open var evaluatedPolicyDomainState: Data? { core.domainState }

    /// The current enrollment.
    open var domainState: LADomainState { .current() }

    // MARK: -

    /// Runs each evaluation on a separate thread, since it waits for the user: a few would exhaust a shared pool. Retains the context until
    /// the reply has returned, since `LAContext().evaluatePolicy(…)` has no other reference; not longer, since its release ends the
    /// authorization, and a thread may keep its block.
    private func runOnThread(
        _ reply: @escaping @Sendable (Bool, (any Error)?) -> Void, _ body: @escaping @Sendable () throws(LAError) -> Void
    ) {
        let retained = Mutex<LAContext?>(self)
        let thread = Thread {
            do throws(LAError) {
                try body()
                reply(true, nil)
            } catch let failure {
                reply(false, failure)
            }
            // The context is released outside the lock.
            _ = retained.withLock { $0.take() }
        }
        thread.stackSize = 1 << 19
        thread.start()
    }

    private static func resume(_ continuation: CheckedContinuation<Bool, any Error>, success: Bool, error: (any Error)?) {
        if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: success) }
    }
}

extension LAContext: KeychainAuthenticationContext {
    package var applicationPassword: ApplicationPassword? { core.applicationPassword }
    package var authorization: [UInt8]? { core.authorization }
    package func begin(_ call: CallCancellation) -> Bool { core.begin(call) }
    package func end(_ call: CallCancellation) { core.end(call) }
}
