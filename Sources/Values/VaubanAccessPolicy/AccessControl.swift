// The requirements that must be satisfied before an item is decrypted: the value behind SecAccessControl (C-072 … C-087).

package import VaubanDER

/// The flags of `SecAccessControlCreateFlags`, with Apple's bits.
package struct AccessControlFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static let userPresence = Self(rawValue: 1 << 0)
    package static let biometryAny = Self(rawValue: 1 << 1)
    package static let biometryCurrentSet = Self(rawValue: 1 << 3)
    package static let devicePasscode = Self(rawValue: 1 << 4)
    package static let companion = Self(rawValue: 1 << 5)
    package static let or = Self(rawValue: 1 << 14)
    package static let and = Self(rawValue: 1 << 15)
    package static let privateKeyUsage = Self(rawValue: 1 << 30)
    package static let applicationPassword = Self(rawValue: 1 << 31)

    package static let known: Self = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and, .privateKeyUsage, .applicationPassword,
    ]
}

/// A protection class with a set of constraints. Equal if class and flags are equal.
package struct AccessControl: Hashable, Sendable {
    package let protection: ProtectionClass
    package let flags: AccessControlFlags

    package init(protection: ProtectionClass, flags: AccessControlFlags) throws(AccessControlError) {
        guard flags.isSubset(of: .known) else { throw .unknownFlag }
        guard !flags.isSuperset(of: [.or, .and]) else { throw .orWithAnd }
        guard !flags.isSuperset(of: [.biometryAny, .biometryCurrentSet]) else { throw .twoBiometryFlags }
        guard !flags.contains(.userPresence) || flags.isSubset(of: [.userPresence, .applicationPassword, .privateKeyUsage]) else {
            throw .presenceNotAlone
        }
        self.protection = protection
        self.flags = flags
    }
}

/// Why a combination of flags is invalid. The fault is the caller's: `SecAccessControlCreateWithFlags` reports errSecParam for each.
package enum AccessControlError: String, Error {
    case unknownFlag = "an access control flag is unknown"
    case orWithAnd = "an access control cannot be both \"or\" and \"and\""
    case twoBiometryFlags = "an access control takes one of the two biometry flags"
    case presenceNotAlone = "userPresence combines only with applicationPassword and privateKeyUsage"

    /// The same as a separate sentence; a flag that comes first keeps its spelling.
    package var sentence: String { self == .presenceNotAlone ? rawValue : rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

/// `AccessControl ::= SEQUENCE { version INTEGER (1), protection INTEGER, flags INTEGER }`
extension AccessControl: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        guard let protection = ProtectionClass(number: try fields.integer("protection", in: 1...64)) else {
            throw DERError("protection is unknown")
        }
        let flags = AccessControlFlags(rawValue: UInt64(try fields.integer("flags", in: 0...0xFFFF_FFFF)))
        try self.init(protection: protection, flags: flags)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.integer(protection.number)
            try fields.integer(Int64(flags.rawValue))
        }
    }
}
