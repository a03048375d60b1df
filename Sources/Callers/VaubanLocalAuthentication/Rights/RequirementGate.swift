// The gate of a right that is not persisted: its requirement alone.

internal import Foundation
internal import VaubanSecurity
internal import Synchronization

final class RequirementGate: RightGate {
    let kind: LAAuthenticationRequirement.Kind
    /// The enrollment to which the right is bound, if it is: that of its creation, or the first that was readable.
    private let enrollment = Mutex<Data?>(nil)

    init(_ kind: LAAuthenticationRequirement.Kind) {
        self.kind = kind
        if kind == .biometryCurrentSet, let present = Self.present() { enrollment.withLock { $0 = present } }
    }

    func check() throws {
        try kind.policy.check()
        guard kind == .biometryCurrentSet else { return }
        try compare(Self.present())
    }

    func ask(in context: LAContext, reason: String, answer: @escaping @Sendable ((any Error)?) -> Void) {
        if !kind.hasFallback { context.localizedFallbackTitle = "" }
        guard kind == .biometryCurrentSet, let control = kind.control(forKey: false) else {
            context.evaluatePolicy(kind.policy, localizedReason: reason) { _, error in answer(error) }
            return
        }
        // Refuses a changed enrollment before a prompt appears.
        RightCalls.begin { [self] in
            do { try compare(Self.present()) } catch { return answer(error) }
            context.evaluateAccessControl(control, operation: .useItem, localizedReason: reason) { [self] _, error in
                if let error { return answer(error) }
                do {
                    try compare(context.evaluatedPolicyDomainState ?? Self.present())
                    answer(nil)
                } catch {
                    answer(error)
                }
            }
        }
    }

    /// An unreadable enrollment does not count as changed.
    private func compare(_ present: Data?) throws(LAError) {
        guard let present else { return }
        let isSame = enrollment.withLock { enrollment in
            if enrollment == nil { enrollment = present }
            return enrollment == present
        }
        guard isSame else { throw LAError.enrollmentChanged }
    }

    private static func present() -> Data? { LADomainState.current().biometry.stateHash }
}

extension LAPolicy {
    /// Throws if an authorization cannot succeed now.
    func check() throws {
        var error: NSError?
        guard LAContext().canEvaluatePolicy(self, error: &error) else {
            throw error.map { LAError(_nsError: $0) } ?? LAError(.authenticationFailed)
        }
    }
}

extension LAError {
    static var enrollmentChanged: LAError {
        LAError(
            .authenticationFailed,
            userInfo: [NSLocalizedDescriptionKey: "The enrolled fingerprints have changed since the right was created."])
    }

    /// The error of a private key whose right is not authorized.
    static var rightNotAuthorized: LAError {
        LAError(.authenticationFailed, userInfo: [NSLocalizedDescriptionKey: "The right is not authorized."])
    }
}
