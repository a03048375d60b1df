// The purposes of the keys in a keybag (Specs/key-hierarchy.md). The numbers are part of the disk format.

package import EnclaveWire
package import VaubanAccessPolicy
package import VaubanDER

/// The purpose of a slot's key.
package enum KeyPurpose: Hashable, Sendable {
    case protection(ProtectionClass)
    case firstUnlockIndex
    case deviceIndex
    /// Wraps the private keys of a class. It is wrapped by the class key itself and outlives renewals of it, since the private keys that it
    /// wraps may be stored where they cannot be wrapped again.
    case privateKeys(ProtectionClass)
    /// Private halves of the factor pairs to which items with an access control are sealed.
    case passcodeFactor
    case presenceFactor
    case biometryFactor
    /// Belongs to one fingerprint enrollment, and is destroyed with it.
    case enrollmentFactor

    package var number: Int64 {
        switch self {
        case .protection(let protection): protection.number
        case .firstUnlockIndex: 100
        case .deviceIndex: 101
        case .privateKeys(let protection): Self.privateKeysBase + protection.number
        case .passcodeFactor: 200
        case .presenceFactor: 201
        case .biometryFactor: 202
        case .enrollmentFactor: 203
        }
    }

    package init?(number: Int64) {
        switch number {
        case 100: self = .firstUnlockIndex
        case 101: self = .deviceIndex
        case 200: self = .passcodeFactor
        case 201: self = .presenceFactor
        case 202: self = .biometryFactor
        case 203: self = .enrollmentFactor
        default:
            if let protection = ProtectionClass(number: number - Self.privateKeysBase) {
                self = .privateKeys(protection)
                return
            }
            guard let protection = ProtectionClass(number: number) else { return nil }
            self = .protection(protection)
        }
    }

    /// Returns the pair for a factor; nil for a factor that no device here provides.
    package init?(_ factor: Factor) {
        switch factor {
        case .passcode: self = .passcodeFactor
        case .presence: self = .presenceFactor
        case .biometryAny: self = .biometryFactor
        case .biometryCurrentSet: self = .enrollmentFactor
        case .companion: return nil
        }
    }

    private static let privateKeysBase: Int64 = 110

    package static let classes = ProtectionClass.allCases.map(KeyPurpose.protection)
    /// The pairs in every keybag.
    package static let factors: [KeyPurpose] = [.passcodeFactor, .presenceFactor, .biometryFactor]

    package var isFactor: Bool { Self.factors.contains(self) || self == .enrollmentFactor }

    package var isPasscodeClass: Bool {
        switch self {
        case .protection(let protection), .privateKeys(let protection): protection.needsPasscode
        default: false
        }
    }

    /// When the key is in memory; nil for keys that are opened only for one operation.
    package var availability: ProtectionClass.Availability? {
        switch self {
        case .protection(let protection): protection.availability
        case .firstUnlockIndex: .firstUnlock
        case .deviceIndex: .always
        case .privateKeys, .passcodeFactor, .presenceFactor, .biometryFactor, .enrollmentFactor: nil
        }
    }
}

/// One key of the keybag. The first slot of a purpose is the current one. Later slots are older generations, kept so that what they
/// wrapped still opens.
package struct KeySlot: Hashable, Sendable, DERReadable, DERWritable {
    package enum Wrapping: Int64, Sendable {
        case device = 1
        case passcodeAndDevice = 2
        /// Wrapped by the current key of its class.
        case classKey = 3
    }

    package let purpose: KeyPurpose
    package let generation: [UInt8]
    package let wrapping: Wrapping
    package let wrapped: [UInt8]
    /// The public half of a factor pair; nil for other keys.
    package let publicKey: [UInt8]?
    /// Whether a private key may be sealed to this factor pair. Such a key may be stored where it cannot be resealed, so the pair stays.
    package var holdsPrivateKeys: Bool

    package init(
        purpose: KeyPurpose, generation: [UInt8], wrapping: Wrapping, wrapped: [UInt8], publicKey: [UInt8]? = nil,
        holdsPrivateKeys: Bool = false
    ) {
        self.purpose = purpose
        self.generation = generation
        self.wrapping = wrapping
        self.wrapped = wrapped
        self.publicKey = publicKey
        self.holdsPrivateKeys = holdsPrivateKeys
    }

    package var name: KeyName { KeyName(purpose: purpose.number, generation: generation) }

    package init(from fields: inout DERFields) throws {
        guard let purpose = KeyPurpose(number: try fields.integer("purpose", in: 1...255)) else { throw DERError("purpose is unknown") }
        self.purpose = purpose
        generation = try fields.octets("generation", in: 8...8)
        guard let wrapping = Wrapping(rawValue: try fields.integer("wrapping", in: 1...3)) else { throw DERError("wrapping is unknown") }
        self.wrapping = wrapping
        wrapped = try fields.octets("wrapped key", in: 28...256)
        publicKey = try fields.optionalOctets(0, "public key", in: 32...32)
        holdsPrivateKeys = try fields.optionalInteger(1, "holds private keys", in: 1...1) != nil
        if holdsPrivateKeys, !KeyPurpose.factors.contains(purpose) { throw DERError("a key that is not a factor pair holds private keys") }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(purpose.number)
            try fields.octets(generation)
            try fields.integer(wrapping.rawValue)
            try fields.octets(wrapped)
            try fields.optionalOctets(0, publicKey)
            try fields.optionalInteger(1, holdsPrivateKeys ? 1 : nil)
        }
    }
}
