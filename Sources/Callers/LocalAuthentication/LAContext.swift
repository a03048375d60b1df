internal import Synchronization
internal import VaubanAccessPolicy
internal import VaubanAuthenticationClient
internal import VaubanLinuxHost
internal import Security

/// Asks the person to show that they are there: Apple's `LAContext` (C-113 … C-122).
///
/// `@unchecked Sendable`: what changes lies behind `state`; a subclass that adds storage answers for it, as on Apple's
/// systems.
open class LAContext: NSObject, @unchecked Sendable {
    private struct State {
        var isInvalid = false
        var interactionNotAllowed = false
        var localizedReason = ""
        var applicationPassword: ApplicationPassword?
        var running: [ObjectIdentifier: CallCancellation] = [:]
    }

    private let state = Mutex(State())

    public override init() {
        super.init()
    }

    deinit { cancelAll() }

    /// Whether the policy can succeed here at all; shows nothing and asks nobody (C-115). The answer can change at any
    /// time, so an evaluation may fail all the same.
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        do throws(LAError) {
            try checkValid()
            try Self.refusing { () throws(Refusal) in try Self.client().canEvaluate(try Self.owner(policy)) }
            return true
        } catch let failure {
            error?.pointee = failure as NSError
            return false
        }
    }

    /// Shows the reason under the caller's name and answers on a private queue (C-116). The reason must not be empty
    /// (C-119).
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        DispatchQueue.global().async { [self] in
            do throws(LAError) {
                try evaluate(policy, localizedReason)
                reply(true, nil)
            } catch let failure {
                reply(false, failure)
            }
        }
    }

    /// The same as a call that waits without holding a thread of the caller's.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluatePolicy(policy, localizedReason: localizedReason) { success, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: success) }
            }
        }
    }

    /// Ends what runs with `appCancel`, and every later use with `invalidContext` (C-128).
    open func invalidate() {
        state.withLock { state in
            state.isInvalid = true
            state.applicationPassword = nil
        }
        cancelAll()
    }

    /// Gives keychain calls with this context the application's own password for items whose access control has
    /// `.applicationPassword` (C-133); nil takes it back. False if the context is invalid, if the password is empty or has
    /// more than 1024 bytes, or if the type is another.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        guard type == .applicationPassword else { return false }
        var password: ApplicationPassword?
        if let credential {
            guard let held = ApplicationPassword(credential) else { return false }
            password = held
        }
        return state.withLock { state in
            guard !state.isInvalid else { return false }
            state.applicationPassword = password
            return true
        }
    }

    /// Whether a password was given and not taken back.
    open func isCredentialSet(_ type: LACredentialType) -> Bool {
        type == .applicationPassword && state.withLock { $0.applicationPassword != nil }
    }

    /// Makes an evaluation fail with `notInteractive`, and a keychain call with errSecInteractionNotAllowed, where the
    /// person would have to be asked.
    open var interactionNotAllowed: Bool {
        get { state.withLock { $0.interactionNotAllowed } }
        set { state.withLock { $0.interactionNotAllowed = newValue } }
    }

    /// The reason of keychain calls that give none of their own.
    open var localizedReason: String {
        get { state.withLock { $0.localizedReason } }
        set { state.withLock { $0.localizedReason = newValue } }
    }

    /// The kind of sensor that this machine has for Vauban.
    open var biometryType: LABiometryType { .none }

    // MARK: -

    private func evaluate(_ policy: LAPolicy, _ reason: String) throws(LAError) {
        try checkValid()
        guard !reason.isEmpty else { throw Self.parameterError }
        if interactionNotAllowed { throw LAError(.notInteractive) }
        let cancellation = CallCancellation()
        state.withLock { $0.running[ObjectIdentifier(cancellation)] = cancellation }
        defer { state.withLock { $0.running[ObjectIdentifier(cancellation)] = nil } }
        do throws(LAError) {
            try Self.refusing { () throws(Refusal) in
                try Self.client().evaluate(try Self.owner(policy), reason: reason, cancellation: cancellation)
            }
        } catch {
            if cancellation.isCancelled { throw LAError(.appCancel) }
            throw error
        }
    }

    private func checkValid() throws(LAError) {
        if state.withLock({ $0.isInvalid }) { throw LAError(.invalidContext) }
    }

    private func cancelAll() {
        for call in state.withLock({ $0.running.values.map { $0 } }) { call.cancel() }
    }

    private static func client() throws(Refusal) -> AuthenticationClient { AuthenticationClient(service: try Service.current()) }

    private static func owner(_ policy: LAPolicy) throws(Refusal) -> OwnerPolicy {
        switch policy {
        case .deviceOwnerAuthenticationWithBiometrics: .biometry
        case .deviceOwnerAuthentication: .biometryOrPasscode
        default: throw Refusal(.unsupported, "this policy needs a companion device, which Vauban does not know")
        }
    }
}

extension LAContext: KeychainAuthenticationContext {
    var applicationPassword: ApplicationPassword? { state.withLock { $0.applicationPassword } }
}
