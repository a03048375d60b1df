public import Foundation

extension LAError {
    /// What went wrong: Apple's `LAError.Code`.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        public typealias _ErrorType = LAError

        /// The user did not give valid credentials.
        case authenticationFailed = -1

        /// The user chose to cancel.
        case userCancel = -2

        /// The user chose the fallback.
        case userFallback = -3

        /// The system took the dialog away.
        case systemCancel = -4

        /// The device has no passcode.
        case passcodeNotSet = -5

        /// The device has no biometric sensor that can be used.
        case biometryNotAvailable = -6

        /// No finger or face is enrolled.
        case biometryNotEnrolled = -7

        /// Biometry failed too often and needs the passcode first.
        case biometryLockout = -8

        /// The application ended the authentication.
        case appCancel = -9

        /// The context was invalidated before.
        case invalidContext = -10

        /// No companion device is nearby.
        case companionNotAvailable = -11

        /// The removable biometric accessory was never paired.
        case biometryNotPaired = -12

        /// The paired biometric accessory is not connected.
        case biometryDisconnected = -13

        /// The embedded view is too small.
        case invalidDimensions = -14

        /// The user would have to be asked, but the context forbids it.
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

    /// The sentence that tells a user what went wrong.
    var localizedDescription: String {
        switch self {
        case .authenticationFailed: "The authentication did not succeed."
        case .userCancel: "You cancelled the authentication."
        case .userFallback: "You chose another way to authenticate."
        case .systemCancel: "The system ended the authentication."
        case .passcodeNotSet: "No passcode is set on this device."
        case .biometryNotAvailable: "Biometric authentication is not available on this device."
        case .biometryNotEnrolled: "No finger or face is enrolled on this device."
        case .biometryLockout: "Biometry failed too often. Enter the passcode to use it again."
        case .appCancel: "The application ended the authentication."
        case .invalidContext: "The authentication context can no longer be used."
        case .companionNotAvailable: "No companion device is nearby."
        case .biometryNotPaired: "The biometric accessory is not paired with this device."
        case .biometryDisconnected: "The biometric accessory is not connected."
        case .invalidDimensions: "The authentication view is too small."
        case .notInteractive: "Authentication needs the user, who may not be asked now."
        }
    }
}
