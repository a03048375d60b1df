// Evaluation of trust, and its results.

public import Dispatch

/// Receives the result of an evaluation: Apple's `SecTrustWithErrorCallback`.
public typealias SecTrustWithErrorCallback = @Sendable (SecTrust, Bool, CFError?) -> Void

/// Receives the result of an evaluation: Apple's `SecTrustCallback`.
public typealias SecTrustCallback = @Sendable (SecTrust, SecTrustResultType) -> Void

/// Returns whether the certificates are trusted: Apple's `SecTrustEvaluateWithError`.
///
/// - Parameters:
///   - trust: The certificates and policies.
///   - error: Receives an error of `NSOSStatusErrorDomain` if they are not, such as `errSecHostNameMismatch` (-67602),
///     `errSecCertificateExpired` (-67818), `errSecNotTrusted` (-67843) or `errSecCreateChainFailed` (-25318), with a message; its
///     underlying error lists all problems. Of several problems, the code is that of the most serious one, as on Apple's systems: a missing
///     anchor comes before a wrong host, and that before an expired certificate.
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    let found = trust.evaluate().error
    error?.pointee = found
    return found == nil
}

/// Evaluates on a queue, and calls `result` there: Apple's `SecTrustEvaluateAsyncWithError`. Always returns `errSecSuccess`.
@discardableResult public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: DispatchQueue, _ result: @escaping SecTrustWithErrorCallback
)
    -> OSStatus
{
    queue.async {
        let error = trust.evaluate().error
        result(trust, error == nil, error)
    }
    return errSecSuccess
}

/// Evaluates, and passes the result to `result`: Apple's `SecTrustEvaluate`. Always returns `errSecSuccess`.
@available(*, deprecated, renamed: "SecTrustEvaluateWithError")
@discardableResult public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>?) -> OSStatus {
    let outcome = trust.evaluate()
    result?.pointee = outcome.result
    return errSecSuccess
}

/// Evaluates on a queue, by default the main queue, and calls `result` there: Apple's `SecTrustEvaluateAsync`. Always returns
/// `errSecSuccess`.
@available(*, deprecated, renamed: "SecTrustEvaluateAsyncWithError")
@discardableResult public func SecTrustEvaluateAsync(_ trust: SecTrust, _ queue: DispatchQueue?, _ result: @escaping SecTrustCallback)
    -> OSStatus
{
    (queue ?? .main).async { result(trust, trust.evaluate().result) }
    return errSecSuccess
}

/// Passes the result of the last evaluation to `result`: Apple's `SecTrustGetTrustResult`. It is `.invalid` if there was none since the
/// last change. Always returns `errSecSuccess`.
@discardableResult
public func SecTrustGetTrustResult(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    result.pointee = trust.lastOutcome?.result ?? .invalid
    return errSecSuccess
}

/// Returns the public key of the leaf: Apple's `SecTrustCopyKey`. Nil if its type is unsupported.
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? { SecCertificateCopyKey(trust.input.certificates[0]) }

/// The former name of `SecTrustCopyKey`: Apple's `SecTrustCopyPublicKey`.
@available(*, deprecated, renamed: "SecTrustCopyKey")
public func SecTrustCopyPublicKey(_ trust: SecTrust) -> SecKey? { SecTrustCopyKey(trust) }

/// Returns the chain from the leaf to its anchor: Apple's `SecTrustCopyCertificateChain`. Without an anchor, returns the part of a chain
/// that was found. Evaluates first if necessary.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { NSArray(array: trust.outcome.chain) }

/// Returns the number of certificates in the chain: Apple's `SecTrustGetCertificateCount`. Evaluates first if necessary.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex { trust.outcome.chain.count }

/// Returns a certificate of the chain; nil beyond its end: Apple's `SecTrustGetCertificateAtIndex`.
@available(*, deprecated, renamed: "SecTrustCopyCertificateChain")
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ ix: CFIndex) -> SecCertificate? {
    let chain = trust.outcome.chain
    return chain.indices.contains(ix) ? chain[ix] : nil
}

/// Returns exceptions that make the chain trusted, as data that can be stored: Apple's `SecTrustCopyExceptions`. There are no exceptions
/// for a broken algorithm, a key that is too short, a revocation, and a name that the issuer must not certify.
public func SecTrustCopyExceptions(_ trust: SecTrust) -> CFData? { TrustExceptions(trust.outcome).data.map { NSData(data: $0) } }

/// Applies exceptions from `SecTrustCopyExceptions` to the same certificate: Apple's `SecTrustSetExceptions`. The next evaluation is then
/// `.proceed`. Nil removes them.
///
/// - Returns: False for other data and for exceptions of another certificate.
@discardableResult public func SecTrustSetExceptions(_ trust: SecTrust, _ exceptions: CFData?) -> Bool {
    let given = exceptions.flatMap { TrustExceptions($0 as Data, leaf: trust.input.certificates[0]) }
    trust.change { $0.exceptions = given }
    return given != nil
}

/// Returns the result and the date of the evaluation: Apple's `SecTrustCopyResult`, with `kSecTrustResultValue` and
/// `kSecTrustEvaluationDate`.
public func SecTrustCopyResult(_ trust: SecTrust) -> CFDictionary? {
    let outcome = trust.outcome
    let result = NSMutableDictionary()
    result[kSecTrustResultValue] = NSNumber(value: outcome.result.rawValue)
    result[kSecTrustEvaluationDate] = outcome.date as CFDate
    return result
}

/// Returns for each certificate of the chain its name and the problem with it, if any: Apple's `SecTrustCopyProperties`, with
/// `kSecPropertyTypeTitle` and `kSecPropertyTypeError`.
public func SecTrustCopyProperties(_ trust: SecTrust) -> CFArray? {
    let outcome = trust.outcome
    return NSArray(
        array: outcome.chain.enumerated().map { place, certificate in
            let properties = NSMutableDictionary()
            properties[kSecPropertyTypeTitle] = NSString(string: certificate.summary)
            let found = outcome.findings.filter { $0.place == place }.map(outcome.sentence)
            if !found.isEmpty { properties[kSecPropertyTypeError] = NSString(string: found.joined(separator: " ")) }
            return properties
        })
}
