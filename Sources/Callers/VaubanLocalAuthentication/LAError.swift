public import Foundation

/// The domain of every error of this module: Apple's `LAErrorDomain`.
public let LAErrorDomain: String = "com.apple.LocalAuthentication"

/// An error of local authentication: Apple's `LAError`.
///
/// It wraps an `NSError` of the domain `LAErrorDomain`, and casts between the two work as on Apple
/// systems. An error without a description of its own gets the one of its code, so that
/// `localizedDescription` is the same through `LAError`, `NSError` and `any Error`.
///
/// `@unchecked` is sound: the one stored property is constant, and an `NSError` never changes after
/// its initializer.
public struct LAError: _BridgedStoredNSError, @unchecked Sendable {
    public let _nsError: NSError

    public init(_nsError error: NSError) {
        _nsError = error.describedAsLAError()
    }

    public static var _nsErrorDomain: String { LAErrorDomain }

    /// What went wrong. A number that no case stands for counts as a failed authentication.
    public var code: Code {
        Code(rawValue: _nsError.code) ?? .authenticationFailed
    }

    // `NSError` cannot be hashed on Linux, and errors that are equal have the same domain and code.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.domain)
        hasher.combine(_nsError.code)
    }

    public var hashValue: Int {
        var hasher = Hasher()
        hash(into: &hasher)
        return hasher.finalize()
    }
}

extension LAError: _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSError {
        _nsError
    }

    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        result = LAError(_bridgedNSError: source)
    }

    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSError,
        result: inout LAError?
    ) -> Bool {
        result = LAError(_bridgedNSError: source)
        return result != nil
    }

    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        LAError(_nsError: source ?? NSError(domain: LAErrorDomain, code: Code.authenticationFailed.rawValue))
    }
}

extension NSError {
    /// This error, with the description of its `LAError` code unless it has one already.
    fileprivate func describedAsLAError() -> NSError {
        guard userInfo[NSLocalizedDescriptionKey] == nil, let code = LAError.Code(rawValue: code) else {
            return self
        }
        var described = userInfo
        described[NSLocalizedDescriptionKey] = code.localizedDescription
        return NSError(domain: domain, code: self.code, userInfo: described)
    }
}
