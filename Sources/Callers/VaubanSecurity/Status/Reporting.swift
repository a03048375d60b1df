// The one mapping of this module from thrown errors to what a caller receives.

internal import VaubanKeychainClient
internal import VaubanRefusal

/// Runs a call and returns its status; keeps the message for `SecCopyErrorMessageString`.
func withReportedStatus(_ body: () throws -> Void) -> OSStatus {
    do {
        try body()
        return errSecSuccess
    } catch let refusal as Refusal {
        LastRefusal.set(refusal)
        return refusal.status
    } catch let fault as StatusError {
        LastRefusal.set(fault.status, fault.message)
        return fault.status
    } catch {
        return errSecInternal
    }
}

/// Runs a call that returns an object, or nil and an error of `NSOSStatusErrorDomain`. A cancelled use of a private key is an `LAError`
/// (Specs/secitem.md, 12.2).
func withReportedError<Value>(
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?, isKeyUse: Bool = false, _ body: () throws -> Value
) -> Value? {
    var found: Value?
    let status = withReportedStatus { found = try body() }
    if let found { return found }
    let words = (SecCopyErrorMessageString(status, nil) as String?) ?? "status \(status)"
    let isCancelledUse = isKeyUse && status == errSecUserCanceled
    error?.pointee = Unmanaged.passRetained(
        NSError(
            domain: isCancelledUse ? CancelledUse.domain : NSOSStatusErrorDomain, code: isCancelledUse ? CancelledUse.code : Int(status),
            userInfo: [NSLocalizedDescriptionKey: words]))
    return nil
}

/// `LAError.userCancel`, whose module depends on this one.
enum CancelledUse {
    static let domain = "com.apple.LocalAuthentication"
    static let code = -2
}
