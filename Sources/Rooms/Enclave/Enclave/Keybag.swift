// A user's keybag: every long-lived key, each wrapped for its purpose (Specs/key-hierarchy.md), and the settings that change together
// with them. It is one file, so that every change is atomic.

package import EnclaveWire
package import VaubanDER
package import VaubanUserModel

/// `Keybag ::= SEQUENCE { version INTEGER (2..5), identifier OCTET STRING (SIZE (16)), user INTEGER,
///   device OCTET STRING (SIZE (16)), slots SEQUENCE OF KeySlot, destroyed SEQUENCE OF KeyName, settings LockSettings,
///   passcode [0] StretchParameters OPTIONAL, hardwareCounter [1] OCTET STRING OPTIONAL, recovery [2] RecoveryRecord OPTIONAL,
///   enrollment [3] Enrollment OPTIONAL, recovered [4] INTEGER OPTIONAL, earlierRecovery [5] RecoveryRecord OPTIONAL }`; [1] is refused
/// until it is implemented.
///
/// Version 1 has neither `destroyed` nor `settings`, nor any field after [0]; it is read, and written as version 2. Version 3 has slots
/// wrapped by a class key; a keybag without such slots is written as version 2, which earlier releases read. Version 4 marks the factor
/// pairs to which private keys are sealed; a keybag whose marks equal those that an earlier version implies is written as that version.
/// Version 5 has an earlier recovery key; a keybag without one is written as an earlier version.
package struct Keybag: Hashable, Sendable, DERReadable, DERWritable {
    package static let version: Int64 = 5
    /// The first version with marks of pairs for private keys.
    private static let marksVersion: Int64 = 4
    package let identifier: [UInt8]
    package let user: UInt32
    package let device: [UInt8]
    package var slots: [KeySlot]
    /// Keys that are destroyed for good, so that the rows under them can be removed. Only the newest names are kept.
    package var destroyed: [KeyName] = []
    package var settings = LockSettings.standard
    package var passcode: StretchParameters?
    package var recovery: RecoveryRecord?
    /// The previous recovery key. It works until the user has confirmed to have the newest one.
    package var earlierRecovery: RecoveryRecord?
    package var enrollment: Enrollment?
    /// When the recovery key was last used, in microseconds since the reference date.
    package var recovered: Int64?

    package init(identifier: [UInt8], user: UInt32, device: [UInt8], slots: [KeySlot], passcode: StretchParameters?) {
        self.identifier = identifier
        self.user = user
        self.device = device
        self.slots = slots
        self.passcode = passcode
    }

    package init(from fields: inout DERFields) throws {
        let version = try fields.version(1...Self.version)
        identifier = try fields.octets("identifier", in: 16...16)
        user = UInt32(try fields.integer("user", in: 0...Int64(UInt32.max)))
        device = try fields.octets("device", in: 16...16)
        slots = try fields.list("slots", max: EnclaveLimits.slotsMax)
        if version < Self.marksVersion {
            guard !slots.contains(where: \.holdsPrivateKeys) else {
                throw DERError("a keybag of this version does not mark private keys")
            }
            slots = Self.asEarlierVersionsMeant(slots)
        }
        if version > 1 {
            destroyed = try fields.list("destroyed keys", max: EnclaveLimits.destroyedMax)
            settings = try fields.value("settings")
        }
        passcode = try fields.optional(0, "passcode") { try $0.value("passcode", as: StretchParameters.self) }
        if version > 1 {
            recovery = try fields.optional(2, "recovery") { try $0.value("recovery", as: RecoveryRecord.self) }
            enrollment = try fields.optional(3, "enrollment") { try $0.value("enrollment", as: Enrollment.self) }
            recovered = try fields.optionalInteger(4, "recovered", in: Int64.min...Int64.max)
        }
        if version > Self.marksVersion {
            earlierRecovery = try fields.optional(5, "earlier recovery") { try $0.value("earlier recovery", as: RecoveryRecord.self) }
            guard earlierRecovery == nil || recovery != nil else { throw DERError("an earlier recovery key has no newer one") }
        }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            let version = writtenVersion
            try fields.integer(version)
            try fields.octets(identifier)
            try fields.integer(Int64(user))
            try fields.octets(device)
            try fields.list(version < Self.marksVersion ? Self.withoutMarks(slots) : slots)
            try fields.list(destroyed)
            try fields.value(settings)
            if let passcode { try fields.tagged(0) { try $0.value(passcode) } }
            if let recovery { try fields.tagged(2) { try $0.value(recovery) } }
            if let enrollment { try fields.tagged(3) { try $0.value(enrollment) } }
            try fields.optionalInteger(4, recovered)
            if let earlierRecovery { try fields.tagged(5) { try $0.value(earlierRecovery) } }
        }
    }

    /// The lowest version that can represent this keybag.
    private var writtenVersion: Int64 {
        if earlierRecovery != nil { return Self.version }
        guard slots == Self.asEarlierVersionsMeant(Self.withoutMarks(slots)) else { return Self.marksVersion }
        return slots.contains { $0.wrapping == .classKey } ? 3 : 2
    }

    /// Adds the marks that earlier versions imply: those kept rows sealed to older pairs under any class key, and did not distinguish
    /// private keys from rows.
    private static func asEarlierVersionsMeant(_ slots: [KeySlot]) -> [KeySlot] {
        let hasPrivateKeys = slots.contains { $0.wrapping == .classKey }
        var seen: Set<KeyPurpose> = []
        return slots.map { slot in
            var slot = slot
            if KeyPurpose.factors.contains(slot.purpose) {
                let isCurrent = seen.insert(slot.purpose).inserted
                slot.holdsPrivateKeys = hasPrivateKeys || !isCurrent
            }
            return slot
        }
    }

    private static func withoutMarks(_ slots: [KeySlot]) -> [KeySlot] {
        slots.map { slot in
            var slot = slot
            slot.holdsPrivateKeys = false
            return slot
        }
    }

    package func current(_ purpose: KeyPurpose) -> KeySlot? { slots.first { $0.purpose == purpose } }

    /// Returns whether a key exists, was destroyed, or is unknown.
    package func keyStatus(of name: KeyName) -> KeyStatus {
        // Uses an index, since copying a slot retains each of its arrays.
        guard let place = slots.firstIndex(where: { $0.name == name }) else { return destroyed.contains(name) ? .destroyed : .unknown }
        return slots.firstIndex { $0.purpose == slots[place].purpose } == place ? .current : .older
    }

    /// Whether class keys of older generations are kept for rows that still need them.
    package var hasOlderClassKeys: Bool { KeyPurpose.classes.contains { purpose in slots.count { $0.purpose == purpose } > 1 } }

    /// Destroys keys for good. Their names are kept, so that what they wrapped is known to be lost.
    mutating func destroy(_ isDestroyed: (KeySlot) -> Bool) {
        let names = slots.filter(isDestroyed).map(\.name)
        slots.removeAll(where: isDestroyed)
        destroyed = Array((names + destroyed).prefix(EnclaveLimits.destroyedMax))
    }

    /// Returns the context to which a slot's wrapping is bound, so that no slot can replace another.
    func context(_ purpose: KeyPurpose, generation: [UInt8], wrapping: KeySlot.Wrapping) -> [UInt8] {
        identifier + withUnsafeBytes(of: user.bigEndian) { Array($0) } + [UInt8(purpose.number), UInt8(wrapping.rawValue)] + generation
    }
}

/// The fingerprints enrolled through the enclave. A list that differs from this one ends the enrollment.
package struct Enrollment: Hashable, Sendable, DERReadable, DERWritable {
    /// The generation of its factor pair.
    package let generation: [UInt8]
    /// The reader's digest of the list of enrolled fingers.
    package let fingers: [UInt8]
    /// Whether a fingerprint unlocks after the first unlock.
    package let unlocks: Bool

    package init(generation: [UInt8], fingers: [UInt8], unlocks: Bool) {
        self.generation = generation
        self.fingers = fingers
        self.unlocks = unlocks
    }

    package init(from fields: inout DERFields) throws {
        generation = try fields.octets("generation", in: 8...8)
        fingers = try fields.octets("fingers", in: 32...32)
        unlocks = try fields.boolean("unlocks")
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(generation)
            try fields.octets(fingers)
            try fields.boolean(unlocks)
        }
    }
}
