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

/// Runs a call that returns an object, or nil and an error of `NSOSStatusErrorDomain`.
func withReportedError<Value>(_ error: UnsafeMutablePointer<Unmanaged<CFError>?>?, _ body: () throws -> Value) -> Value? {
    var found: Value?
    let status = withReportedStatus { found = try body() }
    if let found { return found }
    let words = (SecCopyErrorMessageString(status, nil) as String?) ?? "status \(status)"
    error?.pointee = Unmanaged.passRetained(
        NSError(domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: words]))
    return nil
}
