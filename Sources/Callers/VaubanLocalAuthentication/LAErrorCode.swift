public import Foundation

extension LAError {
    /// The cause of an error: Apple's `LAError.Code`.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error type of these codes.
        public typealias _ErrorType = LAError

        /// The user did not provide valid credentials.
        case authenticationFailed = -1

        /// The user cancelled the prompt.
        case userCancel = -2

        /// The user chose the fallback.
        case userFallback = -3

        /// The system withdrew the prompt, for example because the keychain locked or the prompt timed out.
        case systemCancel = -4

        /// No passcode is set.
        case passcodeNotSet = -5

        /// There is no usable biometric sensor.
        case biometryNotAvailable = -6

        /// No fingerprint or face is enrolled.
        case biometryNotEnrolled = -7

        /// Biometry failed too often and requires the passcode first.
        case biometryLockout = -8

        /// The application cancelled the authentication.
        case appCancel = -9

        /// The context was invalidated.
        case invalidContext = -10

        /// No companion device is nearby.
        case companionNotAvailable = -11

        /// The removable biometric accessory was never paired.
        case biometryNotPaired = -12

        /// The paired biometric accessory is not connected.
        case biometryDisconnected = -13

        /// The embedded view is too small.
        case invalidDimensions = -14

        /// A prompt is necessary, but the context forbids it.
        case notInteractive = -1004
    }
}

extension LAError.Code {
    /// The former name of `biometryNotAvailable`.
    @available(macOS, introduced: 10.11, deprecated: 10.13, renamed: "biometryNotAvailable")
    @available(iOS, introduced: 8.0, deprecated: 11.0, renamed: "biometryNotAvailable")
    public static var touchIDNotAvailable: Self { .biometryNotAvailable }

    /// The former name of `biometryNotEnrolled`.
    @available(macOS, introduced: 10.11, deprecated: 10.13, renamed: "biometryNotEnrolled")
    @available(iOS, introduced: 8.0, deprecated: 11.0, renamed: "biometryNotEnrolled")
    public static var touchIDNotEnrolled: Self { .biometryNotEnrolled }

    /// The former name of `biometryLockout`.
    @available(macOS, introduced: 10.11, deprecated: 10.13, renamed: "biometryLockout")
    @available(iOS, introduced: 9.0, deprecated: 11.0, renamed: "biometryLockout")
    public static var touchIDLockout: Self { .biometryLockout }

    /// The former name of `companionNotAvailable`.
    @available(macOS, introduced: 10.15, deprecated: 15.0, renamed: "companionNotAvailable")
    public static var watchNotAvailable: Self { .companionNotAvailable }

    /// The message for the user.
    var localizedDescription: String {
        switch self {
        case .authenticationFailed: "The authentication did not succeed."
        case .userCancel: "You cancelled the authentication."
        case .userFallback: "You chose the fallback."
        case .systemCancel: "The system ended the authentication."
        case .passcodeNotSet: "No passcode is set on this device."
        case .biometryNotAvailable: "Biometric authentication is not available on this device."
        case .biometryNotEnrolled: "No fingerprint or face is enrolled on this device."
        case .biometryLockout: "Biometry failed too often. Enter the passcode to use it again."
        case .appCancel: "The application ended the authentication."
        case .invalidContext: "The authentication context can no longer be used."
        case .companionNotAvailable: "No companion device is nearby."
        case .biometryNotPaired: "The biometric accessory is not paired with this device."
        case .biometryDisconnected: "The biometric accessory is not connected."
        case .invalidDimensions: "The authentication view is too small."
        case .notInteractive: "Authentication requires a prompt, which is not allowed now."
        }
    }
}
