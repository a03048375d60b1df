// A certificate to evaluate, and how to evaluate it.

internal import Synchronization

/// Certificates and the policies for evaluating them: Apple's `SecTrust`. Several threads may use it.
public final class SecTrust: NSObject, CFTypeNumbered, Sendable {
    package static let typeID: CFTypeID = 263

    private struct State {
        var input: TrustInput
        /// The outcome; nil if it was not evaluated since the last change.
        var outcome: TrustOutcome?
        var mayFetch = true
        var changes = 0
    }

    private let state: Mutex<State>

    init(_ input: TrustInput) { state = Mutex(State(input: input)) }

    var input: TrustInput { state.withLock { $0.input } }
    var mayFetch: Bool { state.withLock { $0.mayFetch } }
    /// The outcome of the last evaluation; nil if there was none since the last change.
    var lastOutcome: TrustOutcome? { state.withLock { $0.outcome } }

    func change(_ change: (inout TrustInput) -> Void) {
        state.withLock { state in
            change(&state.input)
            state.outcome = nil
            state.changes += 1
        }
    }

    func allowFetching(_ isAllowed: Bool) { state.withLock { $0.mayFetch = isAllowed } }

    /// Evaluates again, since the result depends on the date.
    func evaluate() -> TrustOutcome {
        let (input, changes) = state.withLock { ($0.input, $0.changes) }
        let outcome = input.outcome()
        state.withLock { state in if state.changes == changes { state.outcome = outcome } }
        return outcome
    }

    var outcome: TrustOutcome { lastOutcome ?? evaluate() }
}

/// Returns the type identifier of `SecTrust`: Apple's `SecTrustGetTypeID`.
public func SecTrustGetTypeID() -> CFTypeID { SecTrust.typeID }

/// Creates a trust object from certificates and policies: Apple's `SecTrustCreateWithCertificates`.
///
/// - Parameters:
///   - certificates: One `SecCertificate` or an array of them, the leaf first.
///   - policies: One `SecPolicy` or an array of them; nil for the basic policy.
///   - trust: Receives the object.
/// - Returns: `errSecSuccess`, or `errSecParam` for other objects or without a certificate.
@discardableResult
public func SecTrustCreateWithCertificates(_ certificates: CFTypeRef, _ policies: CFTypeRef?, _ trust: UnsafeMutablePointer<SecTrust?>)
    -> OSStatus
{
    guard let given = elements(of: certificates, as: SecCertificate.self), !given.isEmpty,
        let rules = policies.map({ elements(of: $0, as: SecPolicy.self) }) ?? [SecPolicyCreateBasicX509()]
    else { return errSecParam }
    trust.pointee = SecTrust(TrustInput(certificates: given, policies: rules.isEmpty ? [SecPolicyCreateBasicX509()] : rules))
    return errSecSuccess
}

/// Replaces the policies: Apple's `SecTrustSetPolicies`.
///
/// - Returns: `errSecSuccess`, or `errSecParam` unless it is a policy or an array of policies.
@discardableResult public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus {
    guard let rules = elements(of: policies, as: SecPolicy.self), !rules.isEmpty else { return errSecParam }
    trust.change { $0.policies = rules }
    return errSecSuccess
}

/// Passes the policies to `policies`, as an array: Apple's `SecTrustCopyPolicies`. Always returns `errSecSuccess`.
@discardableResult
public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    policies.pointee = NSArray(array: trust.input.policies)
    return errSecSuccess
}

/// Replaces the system's anchors: Apple's `SecTrustSetAnchorCertificates`. Nil restores the system's. An anchor need not be an authority: a
/// leaf that is its own anchor is trusted.
///
/// - Returns: `errSecSuccess`, or `errSecParam` unless it is an array of certificates.
@discardableResult public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    guard let anchorCertificates else {
        trust.change { ($0.anchors, $0.usesSystemAnchors) = (nil, true) }
        return errSecSuccess
    }
    guard let anchors = elements(of: anchorCertificates, as: SecCertificate.self) else { return errSecParam }
    trust.change { ($0.anchors, $0.usesSystemAnchors) = (anchors, false) }
    return errSecSuccess
}

/// Sets whether the given anchors are the only ones or are added to the system's: Apple's `SecTrustSetAnchorCertificatesOnly`. Call it
/// after `SecTrustSetAnchorCertificates`, which makes them the only ones. Always returns `errSecSuccess`.
@discardableResult public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.change { $0.usesSystemAnchors = !anchorCertificatesOnly }
    return errSecSuccess
}

/// Passes the given anchors to `anchors`; nil if there are none: Apple's `SecTrustCopyCustomAnchorCertificates`. Always returns
/// `errSecSuccess`.
@discardableResult
public func SecTrustCopyCustomAnchorCertificates(_ trust: SecTrust, _ anchors: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    anchors.pointee = trust.input.anchors.map { NSArray(array: $0) }
    return errSecSuccess
}

/// Passes the system's anchors to `anchors`: Apple's `SecTrustCopyAnchorCertificates`. They come from the system's file, such as
/// `/etc/ssl/certs/ca-certificates.crt`.
///
/// - Returns: `errSecSuccess`, or `errSecTrustNotAvailable` if there is no such file.
@discardableResult
public func SecTrustCopyAnchorCertificates(_ anchors: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    let found = TrustAnchors.ofSystem.certificates
    guard !found.isEmpty else { return errSecTrustNotAvailable }
    anchors.pointee = NSArray(array: found)
    return errSecSuccess
}

/// Sets the date of the evaluation: Apple's `SecTrustSetVerifyDate`. Always returns `errSecSuccess`.
@discardableResult public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    let date = verifyDate as Date
    trust.change { $0.date = date }
    return errSecSuccess
}

/// Returns the date of the evaluation in seconds since 2001, now if none was set: Apple's `SecTrustGetVerifyTime`.
public func SecTrustGetVerifyTime(_ trust: SecTrust) -> CFAbsoluteTime { (trust.input.date ?? Date()).timeIntervalSinceReferenceDate }

/// Sets the value that `SecTrustGetNetworkFetchAllowed` returns: Apple's `SecTrustSetNetworkFetchAllowed`. Vauban never fetches anything.
/// Always returns `errSecSuccess`.
@discardableResult public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus {
    trust.allowFetching(allowFetch)
    return errSecSuccess
}

/// Passes the value of `SecTrustSetNetworkFetchAllowed` to `allowFetch`: Apple's `SecTrustGetNetworkFetchAllowed`. Always returns
/// `errSecSuccess`.
@discardableResult
public func SecTrustGetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: UnsafeMutablePointer<DarwinBoolean>) -> OSStatus {
    allowFetch.pointee = DarwinBoolean(trust.mayFetch)
    return errSecSuccess
}

/// Adds OCSP responses, such as one that a server stapled: Apple's `SecTrustSetOCSPResponse`. The evaluation fails for a certificate that
/// one of them reports as revoked; it ignores responses that are malformed, outdated or about other certificates.
///
/// - Parameters:
///   - trust: The trust object.
///   - responseData: One `CFData` or an array of them (RFC 6960, DER); nil for none.
/// - Returns: `errSecSuccess`, or `errSecParam` for other objects.
@discardableResult public func SecTrustSetOCSPResponse(_ trust: SecTrust, _ responseData: CFTypeRef?) -> OSStatus {
    let given = responseData.map { ($0 as? Data).map { [$0] } ?? elements(of: $0, as: NSData.self)?.map { $0 as Data } } ?? []
    guard let given else { return errSecParam }
    trust.change { $0.responses = given.map { [UInt8]($0) } }
    return errSecSuccess
}

/// Returns one object as an array, or an array of such objects; nil if any is of another type.
private func elements<Element: AnyObject>(of object: CFTypeRef, as kind: Element.Type) -> [Element]? {
    if let one = object as? Element { return [one] }
    guard let list = object as? NSArray else { return nil }
    let found = list.compactMap { $0 as? Element }
    return found.count == list.count ? found : nil
}
