// From what went wrong to what a caller of a key is told.

internal import VaubanAccessPolicy
internal import VaubanKeychainClient

/// Runs a call that answers a status.
func keyStatus(_ body: () throws -> Void) -> OSStatus {
    do {
        try body()
        return errSecSuccess
    } catch let fault as KeyFault {
        LastRefusal.set(fault.status, fault.message)
        return fault.status
    } catch let refusal as Refusal {
        LastRefusal.set(refusal)
        return refusal.status
    } catch {
        return errSecInternal
    }
}

/// Runs a call that answers an object, or nil and an error in `NSOSStatusErrorDomain`.
func keyResult<Value>(_ error: UnsafeMutablePointer<Unmanaged<CFError>?>?, _ body: () throws -> Value) -> Value? {
    var found: Value?
    let status = keyStatus { found = try body() }
    if let found { return found }
    let words = (SecCopyErrorMessageString(status, nil) as String?) ?? "status \(status)"
    error?.pointee = Unmanaged.passRetained(NSError(domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: words]))
    return nil
}
