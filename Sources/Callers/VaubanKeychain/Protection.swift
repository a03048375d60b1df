internal import Foundation
internal import Security

/// When an item can be read at all. Apple's two classes for "always" are left out, as Apple advises against them.
public enum Accessibility: Hashable, Sendable, CaseIterable {
    /// While the keychain is unlocked.
    case whenUnlocked
    /// From the first unlock after a start: for what works in the background.
    case afterFirstUnlock
    /// While the keychain is unlocked, and in no backup that another device can open.
    case whenUnlockedThisDeviceOnly
    /// From the first unlock after a start, and in no backup that another device can open.
    case afterFirstUnlockThisDeviceOnly
    /// While the keychain is unlocked and has a passcode. Without a passcode nothing can be added; removing it destroys the item.
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

/// What must happen before an item is given out: an access control.
public struct AccessControl: Hashable, Sendable {
    /// One thing that the user can be asked for.
    public enum Constraint: Hashable, Sendable, CaseIterable {
        /// That they are there, shown by a finger, a face or the passcode.
        case presence
        /// Any enrolled finger or face.
        case anyBiometry
        /// A finger or face of those enrolled now; the item can no longer be opened once the enrollment changes.
        case currentBiometry
        /// The passcode.
        case passcode
    }

    /// Whether one of several constraints is enough.
    public enum Combination: Hashable, Sendable {
        /// One of them is enough.
        case any
        /// All must hold.
        case all
    }

    /// What the user is asked for; empty asks nobody.
    public var constraints: Set<Constraint>
    /// How several constraints go together.
    public var combination: Combination
    /// Whether a password of the application's own takes part in the encryption; see ``ApplicationPassword``.
    public var needsApplicationPassword: Bool

    /// An access control. Some combinations make no sense, such as presence with anything else; the keychain refuses them as
    /// ``KeychainError/Reason/invalid``.
    public init(_ constraints: Set<Constraint>, combination: Combination = .all, needsApplicationPassword: Bool = false) {
        self.constraints = constraints
        self.combination = combination
        self.needsApplicationPassword = needsApplicationPassword
    }

    /// The user shows that they are there.
    public static var presence: Self { Self([.presence]) }
    /// Any enrolled finger or face.
    public static var anyBiometry: Self { Self([.anyBiometry]) }
    /// A finger or face of those enrolled now.
    public static var currentBiometry: Self { Self([.currentBiometry]) }
    /// The passcode.
    public static var passcode: Self { Self([.passcode]) }
    /// The application's own password; nobody is asked.
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

/// How an item is protected: when it can be read, and what must happen before.
public struct Protection: Hashable, Sendable {
    /// When it can be read at all.
    public var accessibility: Accessibility
    /// What must happen before; nil for nothing.
    public var accessControl: AccessControl?

    /// A protection.
    public init(_ accessibility: Accessibility, asking accessControl: AccessControl? = nil) {
        self.accessibility = accessibility
        self.accessControl = accessControl
    }

    /// Readable while the keychain is unlocked: what an item has that is added without saying more.
    public static var whenUnlocked: Self { Self(.whenUnlocked) }
    /// Readable from the first unlock after a start.
    public static var afterFirstUnlock: Self { Self(.afterFirstUnlock) }
    /// Each reading asks the user to show that they are there; gone with the passcode.
    public static var presence: Self { Self(.whenPasscodeSetThisDeviceOnly, asking: .presence) }

    /// The attribute that says so, and its value.
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
