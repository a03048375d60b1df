public import VaubanSecurity

/// The requirement of a right: Apple's `LAAuthenticationRequirement` (C-179 … C-182).
public final class LAAuthenticationRequirement: NSObject, Sendable {
    /// The four requirements; each corresponds to one access control of a persisted right's key.
    enum Kind: CaseIterable, Sendable {
        case presence
        case biometry
        case biometryCurrentSet
        case biometryOrPasscode
    }

    let kind: Kind

    init(_ kind: Kind) { self.kind = kind }

    /// A fingerprint or the device passcode, whichever is available.
    public static let `default` = LAAuthenticationRequirement(.presence)

    /// Any enrolled fingerprint, and nothing else.
    public static let biometry = LAAuthenticationRequirement(.biometry)

    /// A fingerprint of the enrollment at the time when the right is created; any later enrollment invalidates the right. The key of a
    /// persisted right binds it to the enrollment. Any other right reads the enrollment from the service when it is created; if that fails
    /// (there is no reader, or nothing can show a prompt), it uses the enrollment at its first use.
    public static let biometryCurrentSet = LAAuthenticationRequirement(.biometryCurrentSet)

    /// Returns a requirement of any enrolled fingerprint, with a fallback if it fails or is unavailable.
    public static func biometry(fallback: LABiometryFallbackRequirement) -> LAAuthenticationRequirement {
        // The passcode is the only fallback on this system, so both kinds mean the same.
        LAAuthenticationRequirement(.biometryOrPasscode)
    }

    /// Returns whether the other object is the same requirement.
    public override func isEqual(_ object: Any?) -> Bool { (object as? LAAuthenticationRequirement)?.kind == kind }
    /// A hash of the requirement.
    public override var hash: Int { kind.hashValue }
}

/// The fallback of biometry: Apple's `LABiometryFallbackRequirement`.
public final class LABiometryFallbackRequirement: NSObject, Sendable {
    /// The system's fallback, which is the device passcode.
    public static let `default` = LABiometryFallbackRequirement()

    /// The device passcode.
    public static let devicePasscode = LABiometryFallbackRequirement()
}

extension LAAuthenticationRequirement.Kind {
    var policy: LAPolicy {
        switch self {
        case .presence, .biometryOrPasscode: .deviceOwnerAuthentication
        case .biometry, .biometryCurrentSet: .deviceOwnerAuthenticationWithBiometrics
        }
    }

    /// Whether a fallback button would have an effect.
    var hasFallback: Bool { policy == .deviceOwnerAuthentication }

    private var flags: SecAccessControlCreateFlags {
        switch self {
        case .presence: .userPresence
        case .biometry: .biometryAny
        case .biometryCurrentSet: .biometryCurrentSet
        case .biometryOrPasscode: [.biometryAny, .or, .devicePasscode]
        }
    }

    /// Returns the requirement as an access control of the when-passcode-set class: without a passcode, users cannot be distinguished.
    func control(forKey isForKey: Bool) -> SecAccessControl? {
        let all = isForKey ? flags.union(.privateKeyUsage) : flags
        return SecAccessControlCreateWithFlags(kCFAllocatorDefault, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, all, nil)
    }

    /// Returns the requirement that a key's control represents; nil for a control that no right uses.
    static func of(_ control: SecAccessControl) -> Self? { allCases.first { $0.control(forKey: true) == control } }
}
