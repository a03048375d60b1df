// The one table from the rooms' refusals to LAError (Specs/secitem.md, 11).

internal import VaubanKeychainClient
internal import VaubanRefusal

extension LAContext {
    /// Apple's code for an invalid parameter, which has no name in `LAError.Code`; an empty reason is one (C-119).
    static var parameterError: LAError {
        let words = [NSLocalizedDescriptionKey: "The reason must not be empty."]
        return LAError(_nsError: NSError(domain: LAErrorDomain, code: -1001, userInfo: words))
    }

    static func error(_ refusal: Refusal) -> LAError {
        if refusal.reason == .badParameter {
            return LAError(_nsError: NSError(domain: LAErrorDomain, code: -1001, userInfo: [NSLocalizedDescriptionKey: refusal.message]))
        }
        let code: LAError.Code =
            switch refusal.reason {
            case .cancelled: .userCancel
            case .fallbackChosen: .userFallback
            case .passcodeNotSet: .passcodeNotSet
            case .biometryNotAvailable: .biometryNotAvailable
            case .biometryNotEnrolled: .biometryNotEnrolled
            case .biometryLockedOut: .biometryLockout
            case .noPromptAgent, .interactionNotAllowed: .notInteractive
            // The prompt was withdrawn by the lock or by its timeout.
            case .userTimedOut, .locked, .beforeFirstUnlock: .systemCancel
            // These do not concern the user: an application that deletes a secret after a failed authentication must not delete it because
            // a service restarted.
            case .unavailable, .internalError, .storageFull, .storageFailed, .stateUnreadable, .keysChanged, .malformed, .unknownRequest:
                .systemCancel
            case .unsupported: .companionNotAvailable
            default: .authenticationFailed
            }
        return LAError(code, userInfo: [NSLocalizedDescriptionKey: refusal.message])
    }
}
