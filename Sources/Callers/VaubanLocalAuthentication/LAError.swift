public import Foundation

/// The domain of every error of this module: Apple's `LAErrorDomain`.
public let LAErrorDomain: String = "com.apple.LocalAuthentication"

/// An error of local authentication: Apple's `LAError`.
///
/// It wraps an `NSError` of the domain `LAErrorDomain`, and casts between the two work as on Apple's systems. An error without a
/// description gets that of its code, so `localizedDescription` is the same through `LAError`, `NSError` and `any Error`.
///
/// `@unchecked Sendable`: the only stored property is constant, and an `NSError` never changes after its initializer.
public struct LAError: _BridgedStoredNSError, @unchecked Sendable {
    /// The wrapped error.
    public let _nsError: NSError

    /// Wraps an error of the domain `LAErrorDomain`.
    public init(_nsError error: NSError) {
        _nsError = error.describedAsLAError()
    }

    /// The domain of every `LAError`.
    public static var _nsErrorDomain: String { LAErrorDomain }

    /// The cause. An unknown number counts as a failed authentication.
    public var code: Code {
        Code(rawValue: _nsError.code) ?? .authenticationFailed
    }

    // `NSError` is not hashable on Linux; equal errors have the same domain and code.
    /// Hashes the domain and the code.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.domain)
        hasher.combine(_nsError.code)
    }

    /// A hash of the domain and the code.
    public var hashValue: Int {
        var hasher = Hasher()
        hash(into: &hasher)
        return hasher.finalize()
    }
}

extension LAError: _ObjectiveCBridgeable {
    /// Returns the wrapped error.
    public func _bridgeToObjectiveC() -> NSError {
        _nsError
    }

    /// Casts an `NSError` to `LAError`; traps for another domain.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        result = LAError(_bridgedNSError: source)
    }

    /// Casts an `NSError` to `LAError`; returns false for another domain.
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSError,
        result: inout LAError?
    ) -> Bool {
        result = LAError(_bridgedNSError: source)
        return result != nil
    }

    /// Casts an `NSError` to `LAError`; traps for another domain and for nil.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        LAError(_nsError: source ?? NSError(domain: LAErrorDomain, code: Code.authenticationFailed.rawValue))
    }
}

extension NSError {
    /// Returns this error with the description of its code, unless it has a description.
    fileprivate func describedAsLAError() -> NSError {
        guard userInfo[NSLocalizedDescriptionKey] == nil, let code = LAError.Code(rawValue: code) else {
            return self
        }
        var described = userInfo
        described[NSLocalizedDescriptionKey] = code.localizedDescription
        return NSError(domain: domain, code: self.code, userInfo: described)
    }
}
