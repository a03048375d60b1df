// The state and the evaluations of an LAContext, apart from the class that applications subclass.

internal import Foundation
internal import Synchronization
internal import VaubanAccessPolicy
internal import VaubanAuthenticationClient
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanSecurity
internal import VaubanUserModel

final class ContextCore: Sendable {
    struct Settings {
        var interactionNotAllowed = false
        var localizedReason = ""
        var fallbackTitle: String?
        var cancelTitle: String?
        var reuseDuration: TimeInterval = 0
        var biometryFailures: Int?
    }

    private struct State {
        var settings = Settings()
        var isInvalid = false
        var applicationPassword: ApplicationPassword?
        var domainState: Data?
        var authorization: Authorization?
        var running: [ObjectIdentifier: CallCancellation] = [:]
    }

    private let state = Mutex(State())

    var settings: Settings { state.withLock { $0.settings } }
    func change(_ body: (inout Settings) -> Void) { state.withLock { body(&$0.settings) } }

    var isInvalid: Bool { state.withLock { $0.isInvalid } }
    var applicationPassword: ApplicationPassword? { state.withLock { $0.applicationPassword } }
    var domainState: Data? { state.withLock { $0.domainState } }
    /// The authorization's handle in this process; nil in a forked child.
    var authorization: [UInt8]? { state.withLock { $0.authorization?.ownHandle } }

    /// Returns false if the context is invalid.
    func set(_ password: ApplicationPassword?) -> Bool {
        state.withLock { state in
            guard !state.isInvalid else { return false }
            state.applicationPassword = password
            return true
        }
    }

    /// Ends running evaluations and revokes authorizations. A second call does nothing.
    func invalidate() {
        let (calls, authorization) = state.withLock { state in
            let ended = (Array(state.running.values), state.authorization)
            state.isInvalid = true
            state.applicationPassword = nil
            state.authorization = nil
            state.domainState = nil
            return ended
        }
        authorization?.end()
        for call in calls { call.cancel() }
    }

    // MARK: Calls

    /// Returns false if the context is invalid; `invalidate` ends a call that has begun.
    func begin(_ call: CallCancellation) -> Bool {
        state.withLock { state in
            guard !state.isInvalid else { return false }
            state.running[ObjectIdentifier(call)] = call
            return true
        }
    }

    func end(_ call: CallCancellation) { state.withLock { $0.running[ObjectIdentifier(call)] = nil } }

    func canEvaluate(_ policy: LAPolicy) throws(LAError) {
        if isInvalid { throw LAError(.invalidContext) }
        do throws(Refusal) {
            let service = try Service.current()
            do throws(Refusal) {
                let result = try AuthenticationClient(service: service).canEvaluate(try Self.owner(policy))
                if let found = result.domainState { state.withLock { $0.domainState = Data(found) } }
            } catch {
                guard error.reason == .noPromptAgent, OwnTerminal.canPrompt(for: service) else { throw error }
            }
        } catch {
            throw LAContext.error(error)
        }
    }

    func evaluate(_ policy: LAPolicy, _ reason: String) throws(LAError) {
        let owner: OwnerPolicy
        do throws(Refusal) { owner = try Self.owner(policy) } catch { throw LAContext.error(error) }
        try evaluate(.policy(owner), reason)
    }

    func evaluate(_ control: AccessControl?, for operation: ControlOperation, reason: String) throws(LAError) {
        if isInvalid { throw LAError(.invalidContext) }
        guard !reason.isEmpty else { throw LAContext.parameterError }
        // The control of a plain item has no constraints.
        guard let control else { return }
        try evaluate(.control(control, operation), reason)
    }

    private func evaluate(_ subject: Evaluation.Subject, _ reason: String) throws(LAError) {
        let settings = settings
        let cancellation = CallCancellation()
        guard begin(cancellation) else { throw LAError(.invalidContext) }
        defer { end(cancellation) }
        guard !reason.isEmpty else { throw LAContext.parameterError }
        let evaluation = Evaluation(
            subject, reason: PlainLine.of(reason, charactersMax: PromptRequest.reasonCharactersMax, bytesMax: Evaluation.reasonBytesMax),
            mayPrompt: !settings.interactionNotAllowed, reuseSeconds: settings.reuseSeconds,
            titles: PromptTitles(cancel: settings.cancelTitle, fallback: settings.fallbackTitle), authorization: authorization)
        do throws(Refusal) {
            let client = AuthenticationClient(service: try Service.current())
            let authorization = try OwnTerminal.withPrompts(for: client.service) { (waiting) throws(Refusal) in
                try client.evaluate(evaluation, waiting: waiting, cancellation: cancellation)
            }
            guard keep(authorization) else { throw Refusal(.cancelled) }
        } catch {
            if cancellation.isCancelled { throw LAError(.appCancel) }
            throw LAContext.error(error)
        }
    }

    /// The newest authorization includes the previous one, on which it builds.
    private func keep(_ authorization: Authorization) -> Bool {
        let (isKept, old) = state.withLock { state -> (Bool, Authorization?) in
            guard !state.isInvalid else { return (false, authorization) }
            let old = state.authorization
            state.authorization = authorization
            if let found = authorization.domainState { state.domainState = Data(found) }
            return (true, old)
        }
        old?.end()
        return isKept
    }

    private static func owner(_ policy: LAPolicy) throws(Refusal) -> OwnerPolicy {
        switch policy {
        case .deviceOwnerAuthenticationWithBiometrics: .biometry
        case .deviceOwnerAuthentication: .biometryOrPasscode
        // Vauban has no companion devices, so only biometry remains.
        case .deviceOwnerAuthenticationWithBiometricsOrCompanion: .biometry
        default: throw Refusal(.unsupported, "This policy needs a companion device, which Vauban does not support")
        }
    }
}

extension ContextCore.Settings {
    /// The reuse duration in whole seconds, at most Apple's limit; 0 for values that are not finite.
    fileprivate var reuseSeconds: Int64 {
        guard reuseDuration > 0 else { return 0 }
        return Int64(min(reuseDuration, LATouchIDAuthenticationMaximumAllowableReuseDuration))
    }
}
