internal import Foundation
internal import Security

/// When an item can be read. Apple's two deprecated "always" classes are omitted.
public enum Accessibility: Hashable, Sendable, CaseIterable {
    /// While the keychain is unlocked.
    case whenUnlocked
    /// From the first unlock after the service starts, for background work.
    case afterFirstUnlock
    /// While the keychain is unlocked, and in no backup that another device can open.
    case whenUnlockedThisDeviceOnly
    /// From the first unlock after the service starts, and in no backup that another device can open.
    case afterFirstUnlockThisDeviceOnly
    /// While the keychain is unlocked and a passcode is set. Without a passcode nothing can be added; removing the passcode erases the
    /// item.
    case whenPasscodeSetThisDeviceOnly

    var code: CFString {
        switch self {
        case .whenUnlocked: kSecAttrAccessibleWhenUnlocked
        case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock
        case .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        case .whenPasscodeSetThisDeviceOnly: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
        }
    }

    init?(code: String) {
        guard let known = Self.allCases.first(where: { $0.code as String == code }) else { return nil }
        self = known
    }
}

/// What an item requires before it is returned: Apple's access control.
public struct AccessControl: Hashable, Sendable {
    /// A constraint that the user must satisfy.
    public enum Constraint: Hashable, Sendable, CaseIterable {
        /// A fingerprint, a face or the passcode.
        case presence
        /// Any enrolled fingerprint or face.
        case anyBiometry
        /// A fingerprint or face that is enrolled now; the item can no longer be opened once the enrollment changes.
        case currentBiometry
        /// The passcode.
        case passcode
    }

    /// How several constraints combine.
    public enum Combination: Hashable, Sendable {
        /// One of them is enough.
        case any
        /// All must hold.
        case all
    }

    /// What the user must satisfy; empty for no prompt.
    public var constraints: Set<Constraint>
    /// How several constraints combine.
    public var combination: Combination
    /// Whether an application password takes part in the encryption; see ``ApplicationPassword``.
    public var needsApplicationPassword: Bool

    /// Creates an access control. The keychain refuses meaningless combinations, such as presence with anything else, with
    /// ``KeychainError/Reason/invalid``.
    public init(_ constraints: Set<Constraint>, combination: Combination = .all, needsApplicationPassword: Bool = false) {
        self.constraints = constraints
        self.combination = combination
        self.needsApplicationPassword = needsApplicationPassword
    }

    /// A fingerprint, a face or the passcode.
    public static var presence: Self { Self([.presence]) }
    /// Any enrolled fingerprint or face.
    public static var anyBiometry: Self { Self([.anyBiometry]) }
    /// A fingerprint or face that is enrolled now.
    public static var currentBiometry: Self { Self([.currentBiometry]) }
    /// The passcode.
    public static var passcode: Self { Self([.passcode]) }
    /// The application password; no prompt.
    public static var applicationPassword: Self { Self([], needsApplicationPassword: true) }

    var flags: SecAccessControlCreateFlags {
        var flags: SecAccessControlCreateFlags = []
        for constraint in constraints {
            switch constraint {
            case .presence: flags.insert(.userPresence)
            case .anyBiometry: flags.insert(.biometryAny)
            case .currentBiometry: flags.insert(.biometryCurrentSet)
            case .passcode: flags.insert(.devicePasscode)
            }
        }
        if constraints.count > 1 { flags.insert(combination == .any ? .or : .and) }
        if needsApplicationPassword { flags.insert(.applicationPassword) }
        return flags
    }
}

/// How an item is protected: when it can be read, and what it requires first.
public struct Protection: Hashable, Sendable {
    /// When it can be read.
    public var accessibility: Accessibility
    /// What it requires first; nil for nothing.
    public var accessControl: AccessControl?

    /// Creates a protection.
    public init(_ accessibility: Accessibility, requiring accessControl: AccessControl? = nil) {
        self.accessibility = accessibility
        self.accessControl = accessControl
    }

    /// Readable while the keychain is unlocked: the default of a new item.
    public static var whenUnlocked: Self { Self(.whenUnlocked) }
    /// Readable from the first unlock after the service starts.
    public static var afterFirstUnlock: Self { Self(.afterFirstUnlock) }
    /// Each read prompts the user for a fingerprint, a face or the passcode; erased with the passcode.
    public static var presence: Self { Self(.whenPasscodeSetThisDeviceOnly, requiring: .presence) }

    /// Returns the attribute and its value.
    func attribute() throws(KeychainError) -> (name: String, value: Any) {
        guard let accessControl else { return (kSecAttrAccessible as String, accessibility.code) }
        var failure: Unmanaged<CFError>?
        guard let made = SecAccessControlCreateWithFlags(kCFAllocatorDefault, accessibility.code, accessControl.flags, &failure) else {
            let error = failure?.takeRetainedValue() as (any Error)?
            throw KeychainError(status: errSecParam, message: error?.localizedDescription)
        }
        return (kSecAttrAccessControl as String, made)
    }
}
