// When an item can be decrypted: Apple's accessibility constants (C-051 … C-060).

/// A protection class, by its stored code (`kSecAttrAccessible…`).
package enum ProtectionClass: String, CaseIterable, Sendable {
    case whenUnlocked = "ak"
    case afterFirstUnlock = "ck"
    case always = "dk"
    case whenUnlockedThisDeviceOnly = "aku"
    case afterFirstUnlockThisDeviceOnly = "cku"
    case alwaysThisDeviceOnly = "dku"
    case whenPasscodeSetThisDeviceOnly = "akpu"

    /// When a class key is in the enclave's memory.
    package enum Availability: Sendable {
        /// Only while the device is unlocked: class A.
        case unlocked
        /// From the first unlock until the enclave ends: class C.
        case firstUnlock
        /// Always: class D.
        case always
    }

    package var availability: Availability {
        switch self {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: .unlocked
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .firstUnlock
        case .always, .alwaysThisDeviceOnly: .always
        }
    }

    /// Whether the class exists only while a passcode is set; its key is destroyed with the passcode (C-060 … C-062).
    package var needsPasscode: Bool { self == .whenPasscodeSetThisDeviceOnly }

    /// Whether items of the class can never be decrypted on another device (C-058).
    package var staysOnDevice: Bool {
        switch self {
        case .whenUnlocked, .afterFirstUnlock, .always: false
        case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: true
        }
    }

    /// The number of the class on disk and on the wires: Apple's key class numbers.
    package var number: Int64 {
        switch self {
        case .whenUnlocked: 6
        case .afterFirstUnlock: 7
        case .always: 8
        case .whenUnlockedThisDeviceOnly: 9
        case .afterFirstUnlockThisDeviceOnly: 10
        case .alwaysThisDeviceOnly: 11
        case .whenPasscodeSetThisDeviceOnly: 12
        }
    }

    package init?(number: Int64) {
        guard let found = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = found
    }
}
