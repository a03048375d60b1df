@_exported public import Foundation

/// A biometric sensor: Apple's `LABiometryType`.
public enum LABiometryType: Int, Sendable {
    /// No sensor.
    case none = 0

    /// A fingerprint sensor.
    case touchID = 1

    /// A camera that recognizes faces.
    case faceID = 2

    /// A camera that recognizes irises.
    case opticID = 4
}

/// A credential that an application provides to a context: Apple's `LACredentialType`.
public enum LACredentialType: Int, Sendable {
    /// An application password, which takes part in the encryption of an item.
    case applicationPassword = 0

    /// The PIN of a smart card. Vauban accepts none.
    case smartCardPIN = -3
}

/// The operation for which to evaluate an access control: Apple's `LAAccessControlOperation`.
public enum LAAccessControlOperation: Int, Sendable {
    /// Creating an item.
    case createItem = 0

    /// Using an item.
    case useItem = 1

    /// Creating a key.
    case createKey = 2

    /// Signing with a key.
    case useKeySign = 3

    /// Decrypting with a key.
    case useKeyDecrypt = 4

    /// Exchanging keys.
    case useKeyKeyExchange = 5
}

/// The longest time, in seconds, for which an unlock by fingerprint counts as authentication: Apple's
/// `LATouchIDAuthenticationMaximumAllowableReuseDuration`.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 5 * 60

/// A pointer to which a function writes its error: Apple's `NSErrorPointer`, which Foundation for Linux lacks. `&error` of a `var error:
/// NSError?` converts to it.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
