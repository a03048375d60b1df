@_exported public import Foundation

/// The kind of biometric sensor: Apple's `LABiometryType`.
public enum LABiometryType: Int, Sendable {
    /// There is no sensor.
    case none = 0

    /// A fingerprint sensor.
    case touchID = 1

    /// A camera that recognizes faces.
    case faceID = 2

    /// A camera that recognizes irises.
    case opticID = 4
}

/// The kind of secret that an application may give to a context: Apple's `LACredentialType`.
public enum LACredentialType: Int, Sendable {
    /// A password of the application, which takes part in the encryption of an item.
    case applicationPassword = 0

    /// The personal identification number of a smart card.
    case smartCardPIN = -3
}

/// What an access control is evaluated for: Apple's `LAAccessControlOperation`.
public enum LAAccessControlOperation: Int, Sendable {
    /// An item is created.
    case createItem = 0

    /// An item is used.
    case useItem = 1

    /// A key is created.
    case createKey = 2

    /// A key signs.
    case useKeySign = 3

    /// A key decrypts.
    case useKeyDecrypt = 4

    /// A key takes part in a key exchange.
    case useKeyKeyExchange = 5
}

/// The longest time, in seconds, for which unlocking the device may count as authentication:
/// Apple's `LATouchIDAuthenticationMaximumAllowableReuseDuration`.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 5 * 60

/// Where a function puts the error it reports: Apple's `NSErrorPointer`, which Foundation for Linux
/// lacks. `&error` of a `var error: NSError?` converts to it.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
