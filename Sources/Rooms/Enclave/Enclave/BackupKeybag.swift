// The keys of a backup (Specs/backup.md): new ones, wrapped under its passphrase.

package import SwiftASN1
import VaubanAccessPolicy
package import VaubanDER
import VaubanRefusal
import VaubanSecretBytes

/// The purpose of a backup's key: a class of items, or the frames that contain them.
enum BackupPurpose: Hashable {
    case contents
    case protection(Protection)

    /// All purposes in the order of their numbers, which is their order in a keybag.
    static let all: [BackupPurpose] =
        [.contents] + Protection.allCases.filter { !$0.needsPasscode }.map(Self.protection).sorted { $0.number < $1.number }

    var number: Int64 {
        switch self {
        case .contents: 1
        case .protection(let protection): protection.number
        }
    }
}

/// The keybag at the beginning of a backup.
package struct BackupKeybag: Hashable, Sendable, DERReadable, DERWritable {
    package static let version: Int64 = 1

    struct Slot: Hashable, Sendable {
        let purpose: Int64
        let wrapped: [UInt8]
    }

    /// Lets this device add to the backup without the passphrase.
    struct Continuation: Hashable, Sendable {
        /// The class key that wraps the passphrase key.
        let generation: [UInt8]
        let wrapped: [UInt8]
    }

    let identifier: [UInt8]
    let device: [UInt8]
    let passphrase: StretchParameters
    var slots: [Slot]
    var continuation: Continuation?

    init(identifier: [UInt8], device: [UInt8], passphrase: StretchParameters, slots: [Slot]) {
        self.identifier = identifier
        self.device = device
        self.passphrase = passphrase
        self.slots = slots
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(Self.version)
        identifier = try fields.octets("identifier", in: 16...16)
        device = try fields.octets("device", in: 16...16)
        passphrase = try fields.value("passphrase")
        slots = try fields.list("slots", max: BackupPurpose.all.count)
        guard slots.map(\.purpose) == BackupPurpose.all.map(\.number) else { throw DERError("slots are not those of a backup") }
        continuation = try fields.optional(0, "continuation") { try $0.value("continuation", as: Continuation.self) }
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(Self.version)
            try fields.octets(identifier)
            try fields.octets(device)
            try fields.value(passphrase)
            try fields.list(slots)
            if let continuation { try fields.tagged(0) { try $0.value(continuation) } }
        }
    }

    func context(of purpose: BackupPurpose) -> [UInt8] { identifier + device + [UInt8(purpose.number)] }

    func context(ofContinuationFor user: UInt32) -> [UInt8] {
        identifier + device + withUnsafeBytes(of: user.bigEndian) { Array($0) }
    }

    static let slotLabel = "vauban backup slot v1"
    static let continuationLabel = "vauban backup continuation v1"
}

extension BackupKeybag.Slot: DERReadable, DERWritable {
    init(from fields: inout DERFields) throws {
        purpose = try fields.integer("purpose", in: 1...11)
        wrapped = try fields.octets("wrapped key", in: 60...60)
    }

    func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(purpose)
            try fields.octets(wrapped)
        }
    }
}

extension BackupKeybag.Continuation: DERReadable, DERWritable {
    init(from fields: inout DERFields) throws {
        generation = try fields.octets("generation", in: 8...8)
        wrapped = try fields.octets("wrapped key", in: 60...60)
    }

    func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.octets(generation)
            try fields.octets(wrapped)
        }
    }
}
