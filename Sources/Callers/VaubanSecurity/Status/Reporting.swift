// The one mapping of this module from thrown errors to what a caller receives.

internal import VaubanKeychainClient
internal import VaubanRefusal

/// Runs a call and returns its status; keeps the message for `SecCopyErrorMessageString`.
func reporting(_ body: () throws -> Void) -> OSStatus {
    do {
        try body()
        return errSecSuccess
    } catch let refusal as Refusal {
        LastRefusal.set(refusal)
        return refusal.status
    } catch let fault as KeyOperationError {
        LastRefusal.set(fault.status, fault.message)
        return fault.status
    } catch let undecodable as Undecodable {
        LastRefusal.set(undecodable.status, undecodable.message)
        return undecodable.status
    } catch {
        return errSecInternal
    }
}

/// Runs a call that returns an object, or nil and an error of `NSOSStatusErrorDomain`.
func reporting<Value>(_ error: UnsafeMutablePointer<Unmanaged<CFError>?>?, _ body: () throws -> Value) -> Value? {
    var found: Value?
    let status = reporting { found = try body() }
    if let found { return found }
    let words = (SecCopyErrorMessageString(status, nil) as String?) ?? "status \(status)"
    error?.pointee = Unmanaged.passRetained(
        NSError(domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: words]))
    return nil
}
