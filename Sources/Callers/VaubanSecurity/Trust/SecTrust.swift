// A certificate whose trust is in question, and how it is to be judged.

internal import Synchronization

/// Certificates and how to judge them: Apple's `SecTrust`. It may be used by several threads.
public final class SecTrust: NSObject, CFTypeNumbered, Sendable {
    package static let typeID: CFTypeID = 263

    private struct State {
        var question: TrustQuestion
        /// What the question came to; nil where it was not evaluated since it changed.
        var outcome: TrustOutcome?
        var mayFetch = true
        var changes = 0
    }

    private let state: Mutex<State>

    init(_ question: TrustQuestion) { state = Mutex(State(question: question)) }

    var question: TrustQuestion { state.withLock { $0.question } }
    var mayFetch: Bool { state.withLock { $0.mayFetch } }
    /// What it was found to be; nil where nobody asked since it was last changed.
    var lastOutcome: TrustOutcome? { state.withLock { $0.outcome } }

    func change(_ change: (inout TrustQuestion) -> Void) {
        state.withLock { state in
            change(&state.question)
            state.outcome = nil
            state.changes += 1
        }
    }

    func allowFetching(_ isAllowed: Bool) { state.withLock { $0.mayFetch = isAllowed } }

    /// Judges anew, since dates pass.
    func evaluate() -> TrustOutcome {
        let (question, changes) = state.withLock { ($0.question, $0.changes) }
        let outcome = question.answered()
        state.withLock { state in if state.changes == changes { state.outcome = outcome } }
        return outcome
    }

    var outcome: TrustOutcome { lastOutcome ?? evaluate() }
}

/// The class number: Apple's `SecTrustGetTypeID`.
public func SecTrustGetTypeID() -> CFTypeID { SecTrust.typeID }

/// Puts certificates together with the policies that they are to be judged by: Apple's `SecTrustCreateWithCertificates`.
/// - Parameters:
///   - certificates: One `SecCertificate` or an array of them, the leaf first.
///   - policies: One `SecPolicy` or an array of them; nil is the basic policy.
/// - Returns: `errSecParam` where they are of other kinds, or there is no certificate.
public func SecTrustCreateWithCertificates(_ certificates: CFTypeRef, _ policies: CFTypeRef?, _ trust: UnsafeMutablePointer<SecTrust?>)
    -> OSStatus
{
    guard let given = elements(of: certificates, as: SecCertificate.self), !given.isEmpty,
        let rules = policies.map({ elements(of: $0, as: SecPolicy.self) }) ?? [SecPolicyCreateBasicX509()]
    else { return errSecParam }
    trust.pointee = SecTrust(TrustQuestion(certificates: given, policies: rules.isEmpty ? [SecPolicyCreateBasicX509()] : rules))
    return errSecSuccess
}

/// Judges by other policies: Apple's `SecTrustSetPolicies`.
/// - Returns: `errSecParam` where it is neither a policy nor an array with nothing but policies.
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus {
    guard let rules = elements(of: policies, as: SecPolicy.self), !rules.isEmpty else { return errSecParam }
    trust.change { $0.policies = rules }
    return errSecSuccess
}

/// The policies that it is judged by: Apple's `SecTrustCopyPolicies`.
public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    policies.pointee = NSArray(array: trust.question.policies)
    return errSecSuccess
}

/// Takes these anchors in the place of the system's: Apple's `SecTrustSetAnchorCertificates`. Nil brings the system's back. An anchor
/// need not
/// be an authority: a leaf that is its own anchor is trusted.
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    guard let anchorCertificates else {
        trust.change { ($0.anchors, $0.usesSystemAnchors) = (nil, true) }
        return errSecSuccess
    }
    guard let anchors = elements(of: anchorCertificates, as: SecCertificate.self) else { return errSecParam }
    trust.change { ($0.anchors, $0.usesSystemAnchors) = (anchors, false) }
    return errSecSuccess
}

/// Says whether the given anchors are the only ones, or the system's count beside them: Apple's `SecTrustSetAnchorCertificatesOnly`.
/// It is
/// called after `SecTrustSetAnchorCertificates`, which makes them the only ones.
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.change { $0.usesSystemAnchors = !anchorCertificatesOnly }
    return errSecSuccess
}

/// The anchors that were given; nil where none were: Apple's `SecTrustCopyCustomAnchorCertificates`.
public func SecTrustCopyCustomAnchorCertificates(_ trust: SecTrust, _ anchors: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    anchors.pointee = trust.question.anchors.map { NSArray(array: $0) }
    return errSecSuccess
}

/// The system's anchors: Apple's `SecTrustCopyAnchorCertificates`. They come from the system's file, such as
/// `/etc/ssl/certs/ca-certificates.crt`.
/// - Returns: `errSecTrustNotAvailable` where there is none.
public func SecTrustCopyAnchorCertificates(_ anchors: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    let found = TrustAnchors.ofSystem.certificates
    guard !found.isEmpty else { return errSecTrustNotAvailable }
    anchors.pointee = NSArray(array: found)
    return errSecSuccess
}

/// Judges as of another time than now: Apple's `SecTrustSetVerifyDate`.
public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    let date = verifyDate as Date
    trust.change { $0.date = date }
    return errSecSuccess
}

/// The time as of which it is judged, in seconds since 2001: Apple's `SecTrustGetVerifyTime`. Now, where none was set.
public func SecTrustGetVerifyTime(_ trust: SecTrust) -> CFAbsoluteTime { (trust.question.date ?? Date()).timeIntervalSinceReferenceDate }

/// Keeps what `SecTrustGetNetworkFetchAllowed` answers: Apple's `SecTrustSetNetworkFetchAllowed`. Nothing is fetched here either way.
public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus {
    trust.allowFetching(allowFetch)
    return errSecSuccess
}

/// Whether missing certificates may be fetched: Apple's `SecTrustGetNetworkFetchAllowed`.
public func SecTrustGetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: UnsafeMutablePointer<DarwinBoolean>) -> OSStatus {
    allowFetch.pointee = DarwinBoolean(trust.mayFetch)
    return errSecSuccess
}

/// Brings along what responders said, such as what a server stapled: Apple's `SecTrustSetOCSPResponse`. A certificate that one of them
/// calls revoked is
/// refused; a response that is not understood, is too old or is about another certificate counts for nothing.
/// - Parameter responseData: One `CFData` or an array of them (RFC 6960, DER); nil for none.
public func SecTrustSetOCSPResponse(_ trust: SecTrust, _ responseData: CFTypeRef?) -> OSStatus {
    let given = responseData.map { ($0 as? Data).map { [$0] } ?? elements(of: $0, as: NSData.self)?.map { $0 as Data } } ?? []
    guard let given else { return errSecParam }
    trust.change { $0.responses = given.map { [UInt8]($0) } }
    return errSecSuccess
}

/// One object or an array of such; nil where anything is of another kind.
private func elements<Element: AnyObject>(of object: CFTypeRef, as kind: Element.Type) -> [Element]? {
    if let one = object as? Element { return [one] }
    guard let list = object as? NSArray else { return nil }
    let found = list.compactMap { $0 as? Element }
    return found.count == list.count ? found : nil
}
