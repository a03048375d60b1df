// The one table from the rooms' refusals to LAError (platform 3.3).

internal import VaubanAccessPolicy
internal import VaubanKeychainClient

extension LAContext {
    /// Runs a call of the rooms and turns its refusal into the error that an Apple program knows.
    static func refusing(_ body: () throws(Refusal) -> Void) throws(LAError) {
        do throws(Refusal) {
            try body()
        } catch {
            throw Self.error(error)
        }
    }

    /// Apple's number for a bad argument, which has no name in `LAError.Code`; an empty reason is one (C-119).
    static var parameterError: LAError {
        let words = [NSLocalizedDescriptionKey: "A reason for the person is needed."]
        return LAError(_nsError: NSError(domain: LAErrorDomain, code: -1001, userInfo: words))
    }

    static func error(_ refusal: Refusal) -> LAError {
        let code: LAError.Code =
            switch refusal.reason {
            case .cancelled: .userCancel
            case .fallbackChosen: .userFallback
            case .passcodeNotSet: .passcodeNotSet
            case .biometryNotAvailable: .biometryNotAvailable
            case .biometryNotEnrolled: .biometryNotEnrolled
            case .biometryLockedOut: .biometryLockout
            case .nobodyToAsk, .interactionNotAllowed: .notInteractive
            case .personTimeOver: .systemCancel
            case .unsupported: .companionNotAvailable
            default: .authenticationFailed
            }
        return LAError(code, userInfo: [NSLocalizedDescriptionKey: refusal.message])
    }
}
