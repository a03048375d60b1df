/// How the user must authenticate: Apple's `LAPolicy`.
public enum LAPolicy: Int, Sendable {
    /// A fingerprint or a face.
    case deviceOwnerAuthenticationWithBiometrics = 1

    /// A fingerprint, a face or the device passcode.
    case deviceOwnerAuthentication = 2

    /// A paired companion device nearby. Vauban supports none.
    case deviceOwnerAuthenticationWithCompanion = 3

    /// A fingerprint, a face or a companion device.
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4

    /// A watch worn since its passcode was entered. Vauban supports none.
    case deviceOwnerAuthenticationWithWristDetection = 5
}

extension LAPolicy {
    /// The former name of `deviceOwnerAuthenticationWithCompanion`.
    @available(
        macOS, introduced: 10.15, deprecated: 15.0,
        renamed: "deviceOwnerAuthenticationWithCompanion"
    )
    public static var deviceOwnerAuthenticationWithWatch: Self {
        .deviceOwnerAuthenticationWithCompanion
    }

    /// The former name of `deviceOwnerAuthenticationWithBiometricsOrCompanion`.
    @available(
        macOS, introduced: 10.15, deprecated: 15.0,
        renamed: "deviceOwnerAuthenticationWithBiometricsOrCompanion"
    )
    public static var deviceOwnerAuthenticationWithBiometricsOrWatch: Self {
        .deviceOwnerAuthenticationWithBiometricsOrCompanion
    }
}
