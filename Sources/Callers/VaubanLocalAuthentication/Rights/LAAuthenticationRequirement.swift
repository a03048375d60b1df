public import VaubanSecurity

/// What a user must show before a right is authorized: Apple's `LAAuthenticationRequirement` (C-179 … C-182).
public final class LAAuthenticationRequirement: NSObject, Sendable {
    /// The four that there are; each is one access control of a kept right's key.
    enum Kind: CaseIterable, Sendable {
        case presence
        case biometry
        case biometryCurrentSet
        case biometryOrPasscode
    }

    let kind: Kind

    init(_ kind: Kind) { self.kind = kind }

    /// A finger or the device passcode, whichever is there.
    public static let `default` = LAAuthenticationRequirement(.presence)

    /// Any enrolled finger, and nothing else.
    public static let biometry = LAAuthenticationRequirement(.biometry)

    /// A finger of the enrollment at the time when the right is made; another enrollment ends what the right can do. A right that is kept is
    /// bound to it by its key. A plain one asks the service once when it is made, and where the enrollment cannot be told then (nobody can
    /// be
    /// asked, no reader), it is that of its first use.
    public static let biometryCurrentSet = LAAuthenticationRequirement(.biometryCurrentSet)

    /// Any enrolled finger, or what stands in where that fails or is not there.
    public static func biometry(fallback: LABiometryFallbackRequirement) -> LAAuthenticationRequirement {
        // The one fallback that there is on this system is the passcode, so both kinds mean it.
        LAAuthenticationRequirement(.biometryOrPasscode)
    }

    public override func isEqual(_ object: Any?) -> Bool { (object as? LAAuthenticationRequirement)?.kind == kind }
    public override var hash: Int { kind.hashValue }
}

/// What stands in for biometry: Apple's `LABiometryFallbackRequirement`.
public final class LABiometryFallbackRequirement: NSObject, Sendable {
    /// What the system offers by itself, which is the device passcode.
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

    /// Whether a button beside the question could lead anywhere.
    var hasFallback: Bool { policy == .deviceOwnerAuthentication }

    private var flags: SecAccessControlCreateFlags {
        switch self {
        case .presence: .userPresence
        case .biometry: .biometryAny
        case .biometryCurrentSet: .biometryCurrentSet
        case .biometryOrPasscode: [.biometryAny, .or, .devicePasscode]
        }
    }

    /// What it is as an access control, of the class that needs a passcode: without one nobody can be told from anybody.
    func control(forKey isForKey: Bool) -> SecAccessControl? {
        let all = isForKey ? flags.union(.privateKeyUsage) : flags
        return SecAccessControlCreateWithFlags(kCFAllocatorDefault, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, all, nil)
    }

    /// The requirement that a key's control stands for; nil for a control that no right has.
    static func of(_ control: SecAccessControl) -> Self? { allCases.first { $0.control(forKey: true) == control } }
}
