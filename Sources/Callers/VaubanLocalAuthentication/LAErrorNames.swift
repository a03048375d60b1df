// The names that match a code, as in `catch LAError.userCancel`, and the numbers under the names of Apple's C header.

extension LAError {
    /// The code `authenticationFailed`.
    public static var authenticationFailed: Code { .authenticationFailed }
    /// The code `userCancel`.
    public static var userCancel: Code { .userCancel }
    /// The code `userFallback`.
    public static var userFallback: Code { .userFallback }
    /// The code `systemCancel`.
    public static var systemCancel: Code { .systemCancel }
    /// The code `passcodeNotSet`.
    public static var passcodeNotSet: Code { .passcodeNotSet }
    /// The code `biometryNotAvailable`.
    public static var biometryNotAvailable: Code { .biometryNotAvailable }
    /// The code `biometryNotEnrolled`.
    public static var biometryNotEnrolled: Code { .biometryNotEnrolled }
    /// The code `biometryLockout`.
    public static var biometryLockout: Code { .biometryLockout }
    /// The code `appCancel`.
    public static var appCancel: Code { .appCancel }
    /// The code `invalidContext`.
    public static var invalidContext: Code { .invalidContext }
    /// The code `companionNotAvailable`.
    public static var companionNotAvailable: Code { .companionNotAvailable }
    /// The code `biometryNotPaired`.
    public static var biometryNotPaired: Code { .biometryNotPaired }
    /// The code `biometryDisconnected`.
    public static var biometryDisconnected: Code { .biometryDisconnected }
    /// The code `invalidDimensions`.
    public static var invalidDimensions: Code { .invalidDimensions }
    /// The code `notInteractive`.
    public static var notInteractive: Code { .notInteractive }
}

extension LAError {
    /// The former name of `biometryNotAvailable`.
    @available(macOS, introduced: 10.11, deprecated: 10.13, renamed: "biometryNotAvailable")
    @available(iOS, introduced: 8.0, deprecated: 11.0, renamed: "biometryNotAvailable")
    public static var touchIDNotAvailable: Code { .biometryNotAvailable }

    /// The former name of `biometryNotEnrolled`.
    @available(macOS, introduced: 10.11, deprecated: 10.13, renamed: "biometryNotEnrolled")
    @available(iOS, introduced: 8.0, deprecated: 11.0, renamed: "biometryNotEnrolled")
    public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }

    /// The former name of `biometryLockout`.
    @available(macOS, introduced: 10.11, deprecated: 10.13, renamed: "biometryLockout")
    @available(iOS, introduced: 9.0, deprecated: 11.0, renamed: "biometryLockout")
    public static var touchIDLockout: Code { .biometryLockout }

    /// The former name of `companionNotAvailable`.
    @available(macOS, introduced: 10.15, deprecated: 15.0, renamed: "companionNotAvailable")
    public static var watchNotAvailable: Code { .companionNotAvailable }
}

// MARK: Apple's `LAPublicDefines.h`. Swift imports C macros as 32-bit numbers.

/// The number of `LAError.Code.authenticationFailed`.
public let kLAErrorAuthenticationFailed: Int32 = -1
/// The number of `LAError.Code.userCancel`.
public let kLAErrorUserCancel: Int32 = -2
/// The number of `LAError.Code.userFallback`.
public let kLAErrorUserFallback: Int32 = -3
/// The number of `LAError.Code.systemCancel`.
public let kLAErrorSystemCancel: Int32 = -4
/// The number of `LAError.Code.passcodeNotSet`.
public let kLAErrorPasscodeNotSet: Int32 = -5
/// The number of `LAError.Code.biometryNotAvailable`.
public let kLAErrorTouchIDNotAvailable: Int32 = -6
/// The number of `LAError.Code.biometryNotEnrolled`.
public let kLAErrorTouchIDNotEnrolled: Int32 = -7
/// The number of `LAError.Code.biometryLockout`.
public let kLAErrorTouchIDLockout: Int32 = -8
/// The number of `LAError.Code.biometryNotAvailable`.
public let kLAErrorBiometryNotAvailable: Int32 = -6
/// The number of `LAError.Code.biometryNotEnrolled`.
public let kLAErrorBiometryNotEnrolled: Int32 = -7
/// The number of `LAError.Code.biometryLockout`.
public let kLAErrorBiometryLockout: Int32 = -8
/// The number of `LAError.Code.appCancel`.
public let kLAErrorAppCancel: Int32 = -9
/// The number of `LAError.Code.invalidContext`.
public let kLAErrorInvalidContext: Int32 = -10
/// The number of `LAError.Code.companionNotAvailable`.
public let kLAErrorWatchNotAvailable: Int32 = -11
/// The number of `LAError.Code.companionNotAvailable`.
public let kLAErrorCompanionNotAvailable: Int32 = -11
/// The number of `LAError.Code.biometryNotPaired`.
public let kLAErrorBiometryNotPaired: Int32 = -12
/// The number of `LAError.Code.biometryDisconnected`.
public let kLAErrorBiometryDisconnected: Int32 = -13
/// The number of `LAError.Code.invalidDimensions`.
public let kLAErrorInvalidDimensions: Int32 = -14
/// The number of `LAError.Code.notInteractive`.
public let kLAErrorNotInteractive: Int32 = -1004
