// A person's keybag: every long-lived key, each wrapped for its purpose (Specs/key-hierarchy.md). The form has room for
// what comes later; what is not used is absent, never empty.

package import SwiftASN1
package import VaubanAccessPolicy
package import VaubanDER

/// What a slot's key is for. The numbers are those of the disk.
package enum KeyPurpose: Hashable, Sendable {
    case protection(Protection)
    case firstUnlockIndex
    case deviceIndex
    /// Private halves of the factor pairs, to which items with an access control are sealed.
    case passcodeFactor
    case presenceFactor

    package var number: Int64 {
        switch self {
        case .protection(let protection): protection.number
        case .firstUnlockIndex: 100
        case .deviceIndex: 101
        case .passcodeFactor: 200
        case .presenceFactor: 201
        }
    }

    package init?(number: Int64) {
        switch number {
        case 100: self = .firstUnlockIndex
        case 101: self = .deviceIndex
        case 200: self = .passcodeFactor
        case 201: self = .presenceFactor
        default:
            guard let protection = Protection(number: number) else { return nil }
            self = .protection(protection)
        }
    }

    package static let classes = Protection.allCases.map(KeyPurpose.protection)
    package static let factors: [KeyPurpose] = [.passcodeFactor, .presenceFactor]

    /// When the key is in memory; nil for keys that never stay there.
    package var availability: Protection.Availability? {
        switch self {
        case .protection(let protection): protection.availability
        case .firstUnlockIndex: .firstUnlock
        case .deviceIndex: .always
        case .passcodeFactor, .presenceFactor: nil
        }
    }
}

/// One key of the keybag. The first slot of a purpose is the current one; later ones are older generations, kept so that
/// what they wrapped still opens.
package struct KeySlot: Hashable, Sendable, DERReadable, DERWritable {
    package enum Wrapping: Int64, Sendable {
        case device = 1
        case passcodeAndDevice = 2
    }

    package let purpose: KeyPurpose
    package let generation: [UInt8]
    package let wrapping: Wrapping
    package let wrapped: [UInt8]
    /// Of a factor pair.
    package let publicKey: [UInt8]?

    package init(purpose: KeyPurpose, generation: [UInt8], wrapping: Wrapping, wrapped: [UInt8], publicKey: [UInt8]? = nil) {
        self.purpose = purpose
        self.generation = generation
        self.wrapping = wrapping
        self.wrapped = wrapped
        self.publicKey = publicKey
    }

    package init(from fields: inout DERFields) throws {
        guard let purpose = KeyPurpose(number: try fields.integer("purpose", in: 1...255)) else { throw DERFault("purpose is unknown") }
        self.purpose = purpose
        generation = try fields.octets("generation", in: 8...8)
        guard let wrapping = Wrapping(rawValue: try fields.integer("wrapping", in: 1...2)) else { throw DERFault("wrapping is unknown") }
        self.wrapping = wrapping
        wrapped = try fields.octets("wrapped key", in: 28...256)
        publicKey = try fields.optionalOctets(0, "public key", in: 32...32)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(purpose.number)
            try fields.octets(generation)
            try fields.integer(wrapping.rawValue)
            try fields.octets(wrapped)
            try fields.optionalOctets(0, publicKey)
        }
    }
}

/// `Keybag ::= SEQUENCE { version INTEGER (1), identifier OCTET STRING (SIZE (16)), person INTEGER,
///   device OCTET STRING (SIZE (16)), slots SEQUENCE OF KeySlot, passcode [0] StretchParameters OPTIONAL,
///   hardwareCounter [1] OCTET STRING OPTIONAL, recovery [2] KeySlot OPTIONAL }`; [1] and [2] are refused until built.
package struct Keybag: Hashable, Sendable, DERReadable, DERWritable {
    package static let version: Int64 = 1
    package let identifier: [UInt8]
    package let person: UInt32
    package let device: [UInt8]
    package var slots: [KeySlot]
    package var passcode: StretchParameters?

    package init(identifier: [UInt8], person: UInt32, device: [UInt8], slots: [KeySlot], passcode: StretchParameters?) {
        self.identifier = identifier
        self.person = person
        self.device = device
        self.slots = slots
        self.passcode = passcode
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(Self.version)
        identifier = try fields.octets("identifier", in: 16...16)
        person = UInt32(try fields.integer("person", in: 0...Int64(UInt32.max)))
        device = try fields.octets("device", in: 16...16)
        slots = try fields.list("slots", max: EnclaveLimits.slotsMax)
        passcode = try fields.optional(0, "passcode") { try $0.value("passcode", as: StretchParameters.self) }
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(Self.version)
            try fields.octets(identifier)
            try fields.integer(Int64(person))
            try fields.octets(device)
            try fields.list(slots)
            if let passcode { try fields.tagged(0) { try $0.value(passcode) } }
        }
    }

    package func current(_ purpose: KeyPurpose) -> KeySlot? { slots.first { $0.purpose == purpose } }

    package func slot(_ purpose: KeyPurpose, generation: [UInt8]) -> KeySlot? {
        slots.first { $0.purpose == purpose && $0.generation == generation }
    }

    /// What a slot's wrapping is bound to, so that no slot can stand in for another.
    func context(_ purpose: KeyPurpose, _ generation: [UInt8], _ wrapping: KeySlot.Wrapping) -> [UInt8] {
        identifier + withUnsafeBytes(of: person.bigEndian) { Array($0) } + [UInt8(purpose.number), UInt8(wrapping.rawValue)] + generation
    }
}
