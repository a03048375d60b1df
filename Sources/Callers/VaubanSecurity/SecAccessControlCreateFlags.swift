/// The constraints on the use of an item: Apple's `SecAccessControlCreateFlags`.
///
/// Five of the flags are constraints on the user. `or` and `and` define whether one or all of several constraints must hold. The last two
/// change what the constraints apply to.
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    /// The flags as a bit set.
    public let rawValue: CFOptionFlags

    /// Creates flags from a bit set.
    public init(rawValue: CFOptionFlags) {
        self.rawValue = rawValue
    }

    /// The user authenticates with biometry or the passcode: `kSecAccessControlUserPresence`.
    public static let userPresence = Self(rawValue: 1 << 0)

    /// Any enrolled fingerprint or face: `kSecAccessControlBiometryAny`.
    public static let biometryAny = Self(rawValue: 1 << 1)

    /// A fingerprint or face of the current enrollment; a change of the enrollment makes the item inaccessible:
    /// `kSecAccessControlBiometryCurrentSet`.
    public static let biometryCurrentSet = Self(rawValue: 1 << 3)

    /// The device passcode: `kSecAccessControlDevicePasscode`.
    public static let devicePasscode = Self(rawValue: 1 << 4)

    /// A paired companion device nearby: `kSecAccessControlCompanion`. Accepted, but never satisfied here.
    public static let companion = Self(rawValue: 1 << 5)

    /// One of the constraints is enough: `kSecAccessControlOr`.
    public static let or = Self(rawValue: 1 << 14)

    /// All constraints must hold: `kSecAccessControlAnd`.
    public static let and = Self(rawValue: 1 << 15)

    /// The constraints govern the use of a private key: `kSecAccessControlPrivateKeyUsage`.
    public static let privateKeyUsage = Self(rawValue: 1 << 30)

    /// An application password takes part in the encryption: `kSecAccessControlApplicationPassword`.
    public static let applicationPassword = Self(rawValue: 1 << 31)
}

extension SecAccessControlCreateFlags {
    /// The former name of `biometryAny`: `kSecAccessControlTouchIDAny`.
    @available(macOS, introduced: 10.12.1, deprecated: 10.13.4, renamed: "biometryAny")
    @available(iOS, introduced: 9.0, deprecated: 11.3, renamed: "biometryAny")
    public static var touchIDAny: Self { .biometryAny }

    /// The former name of `biometryCurrentSet`: `kSecAccessControlTouchIDCurrentSet`.
    @available(macOS, introduced: 10.12.1, deprecated: 10.13.4, renamed: "biometryCurrentSet")
    @available(iOS, introduced: 9.0, deprecated: 11.3, renamed: "biometryCurrentSet")
    public static var touchIDCurrentSet: Self { .biometryCurrentSet }

    /// The former name of `companion`: `kSecAccessControlWatch`.
    @available(macOS, introduced: 10.15, deprecated: 15.0, renamed: "companion")
    public static var watch: Self { .companion }
}
