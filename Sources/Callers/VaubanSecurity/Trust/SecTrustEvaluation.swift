// Asking whether certificates are trusted, and what was found.

public import Dispatch

/// Called with what an evaluation came to: Apple's `SecTrustWithErrorCallback`.
public typealias SecTrustWithErrorCallback = @Sendable (SecTrust, Bool, CFError?) -> Void

/// Called with what an evaluation came to: Apple's `SecTrustCallback`.
public typealias SecTrustCallback = @Sendable (SecTrust, SecTrustResultType) -> Void

/// Whether the certificates are trusted: Apple's `SecTrustEvaluateWithError`.
/// - Parameter error: Where they are not, an error in `NSOSStatusErrorDomain`, such as `errSecHostNameMismatch` (-67602),
///   `errSecCertificateExpired` (-67818),
///   `errSecNotTrusted` (-67843) and `errSecCreateChainFailed` (-25318), with a sentence; the error beneath it names all that is wrong.
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    let found = trust.evaluate().error
    error?.pointee = found
    return found == nil
}

/// The same on a queue: Apple's `SecTrustEvaluateAsyncWithError`. The callback runs on that queue.
public func SecTrustEvaluateAsyncWithError(_ trust: SecTrust, _ queue: DispatchQueue, _ result: @escaping SecTrustWithErrorCallback)
    -> OSStatus
{
    queue.async {
        let error = trust.evaluate().error
        result(trust, error == nil, error)
    }
    return errSecSuccess
}

/// Evaluates, and answers what it came to in one word: Apple's `SecTrustEvaluate`.
@available(*, deprecated, renamed: "SecTrustEvaluateWithError")
public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>?) -> OSStatus {
    let outcome = trust.evaluate()
    result?.pointee = outcome.result
    return errSecSuccess
}

/// The same on a queue, the main one where none is named: Apple's `SecTrustEvaluateAsync`.
@available(*, deprecated, renamed: "SecTrustEvaluateAsyncWithError")
public func SecTrustEvaluateAsync(_ trust: SecTrust, _ queue: DispatchQueue?, _ result: @escaping SecTrustCallback) -> OSStatus {
    (queue ?? .main).async { result(trust, trust.evaluate().result) }
    return errSecSuccess
}

/// What the last evaluation came to: Apple's `SecTrustGetTrustResult`. `.invalid` where there was none since the last change.
public func SecTrustGetTrustResult(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    result.pointee = trust.lastOutcome?.result ?? .invalid
    return errSecSuccess
}

/// The public key of the leaf: Apple's `SecTrustCopyKey`. Nil where it is of a type that is not known here.
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? { SecCertificateCopyKey(trust.question.certificates[0]) }

/// The older name of `SecTrustCopyKey`: Apple's `SecTrustCopyPublicKey`.
@available(*, deprecated, renamed: "SecTrustCopyKey")
public func SecTrustCopyPublicKey(_ trust: SecTrust) -> SecKey? { SecTrustCopyKey(trust) }

/// The chain from the leaf to its anchor: Apple's `SecTrustCopyCertificateChain`. Where none leads to an anchor, as much of one as
/// there is. It evaluates
/// what was not evaluated yet.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { NSArray(array: trust.outcome.chain) }

/// How many certificates the chain has: Apple's `SecTrustGetCertificateCount`.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex { trust.outcome.chain.count }

/// A certificate of the chain, nil beyond its end: Apple's `SecTrustGetCertificateAtIndex`.
@available(*, deprecated, renamed: "SecTrustCopyCertificateChain")
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ ix: CFIndex) -> SecCertificate? {
    let chain = trust.outcome.chain
    return chain.indices.contains(ix) ? chain[ix] : nil
}

/// What would have to be overlooked for the chain to be trusted, as bytes to be kept: Apple's `SecTrustCopyExceptions`. A broken
/// algorithm, a key that is too
/// short, a revocation and a name that the issuer may not give are not overlooked.
public func SecTrustCopyExceptions(_ trust: SecTrust) -> CFData? { TrustExceptions(trust.outcome).data.map { NSData(data: $0) } }

/// Overlooks what `SecTrustCopyExceptions` gave for the same certificate: Apple's `SecTrustSetExceptions`. The next evaluation is then
/// `.proceed`. Nil takes
/// them away.
/// - Returns: False where the bytes are none, or are for another certificate.
public func SecTrustSetExceptions(_ trust: SecTrust, _ exceptions: CFData?) -> Bool {
    let given = exceptions.flatMap { TrustExceptions($0 as Data, leaf: trust.question.certificates[0]) }
    trust.change { $0.exceptions = given }
    return given != nil
}

/// What the evaluation came to, and as of when: Apple's `SecTrustCopyResult`, with `kSecTrustResultValue` and `kSecTrustEvaluationDate`.
public func SecTrustCopyResult(_ trust: SecTrust) -> CFDictionary? {
    let outcome = trust.outcome
    let result = NSMutableDictionary()
    result[kSecTrustResultValue] = NSNumber(value: outcome.result.rawValue)
    result[kSecTrustEvaluationDate] = outcome.date as CFDate
    return result
}

/// For each certificate of the chain its name and, where something is wrong with it, a sentence: Apple's `SecTrustCopyProperties`, with
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
