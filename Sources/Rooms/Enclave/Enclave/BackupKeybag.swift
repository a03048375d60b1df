// The keys of a backup (Specs/backup.md). They are new for each backup, and wrapped under its opening key.

internal import Crypto
import VaubanAccessPolicy
package import VaubanDER
import VaubanRefusal
import VaubanSecretBytes

/// The purpose of a backup's key: a class of items, or the frames that contain them.
enum BackupPurpose: Hashable {
    case contents
    case protection(ProtectionClass)

    /// All purposes in the order of their numbers, which is their order in a keybag.
    static let all: [BackupPurpose] =
        [.contents] + ProtectionClass.allCases.filter { !$0.needsPasscode }.map(Self.protection).sorted { $0.number < $1.number }

    var number: Int64 {
        switch self {
        case .contents: 1
        case .protection(let protection): protection.number
        }
    }
}

/// The keybag at the beginning of a backup.
package struct BackupKeybag: Hashable, Sendable, DERReadable, DERWritable {
    /// Who can open the backup.
    enum Opener: Hashable, Sendable {
        /// A user who has the passphrase; the opening key is the stretched passphrase. This is version 1, which every version of Vauban can
        /// read.
        case passphrase(StretchParameters)
        /// A user who has the restore key or, if there is one, the passphrase; the opening key is random. This is version 2.
        case recipient(BackupRecipient, BackupPassphrase?)
    }

    struct Slot: Hashable, Sendable {
        let purpose: Int64
        let wrapped: [UInt8]
    }

    /// Lets this device add to the backup without the passphrase and the restore key.
    struct Continuation: Hashable, Sendable {
        /// The class key that wraps the opening key.
        let generation: [UInt8]
        let wrapped: [UInt8]
    }

    let identifier: [UInt8]
    let device: [UInt8]
    let opener: Opener
    var slots: [Slot] = []
    var continuation: Continuation?

    init(identifier: [UInt8], device: [UInt8], opener: Opener) {
        self.identifier = identifier
        self.device = device
        self.opener = opener
    }

    package init(from fields: inout DERFields) throws {
        let version = try fields.version(1...2)
        identifier = try fields.octets("identifier", in: 16...16)
        device = try fields.octets("device", in: 16...16)
        let first = try version == 1 ? Opener.passphrase(fields.value("passphrase")) : .recipient(fields.value("recipient"), nil)
        slots = try fields.list("slots", max: BackupPurpose.all.count)
        guard slots.map(\.purpose) == BackupPurpose.all.map(\.number) else { throw DERError("slots are not those of a backup") }
        continuation = try fields.optional(0, "continuation") { try $0.value("continuation", as: Continuation.self) }
        switch first {
        case .passphrase: opener = first
        case .recipient(let recipient, _):
            opener = .recipient(recipient, try fields.optional(1, "passphrase") { try $0.value("passphrase", as: BackupPassphrase.self) })
        }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(version)
            try fields.octets(identifier)
            try fields.octets(device)
            switch opener {
            case .passphrase(let cost): try fields.value(cost)
            case .recipient(let recipient, _): try fields.value(recipient)
            }
            try fields.list(slots)
            if let continuation { try fields.tagged(0) { try $0.value(continuation) } }
            if case .recipient(_, let passphrase?) = opener { try fields.tagged(1) { try $0.value(passphrase) } }
        }
    }

    private var version: Int64 {
        switch opener {
        case .passphrase: 1
        case .recipient: 2
        }
    }

    func context(of purpose: BackupPurpose) -> [UInt8] { identifier + device + [UInt8(purpose.number)] }

    /// The context to which the key that a recipient opens is bound.
    static func recipientContext(identifier: [UInt8], device: [UInt8]) -> [UInt8] { identifier + device }

    /// The context to which the key that a passphrase opens beside a recipient is bound. It includes the recipient, so that a replacement
    /// of the recipient is noticed.
    static func passphraseContext(identifier: [UInt8], device: [UInt8], _ recipient: BackupRecipient) throws -> [UInt8] {
        identifier + device + Array(SHA256.hash(data: try recipient.encoded()))
    }

    /// Returns the context to which the continuation is bound. It includes who can open the backup, so that a run that adds to the backup
    /// without its passphrase detects an altered salt or cost, with which the passphrase would not open it.
    func context(ofContinuationFor user: UInt32) throws -> [UInt8] {
        let openers =
            switch opener {
            case .passphrase(let cost): try cost.encoded()
            case .recipient(let recipient, let passphrase): try recipient.encoded() + (passphrase?.encoded() ?? [])
            }
        return identifier + device + withUnsafeBytes(of: user.bigEndian) { Array($0) } + Array(SHA256.hash(data: openers))
    }

    static let slotLabel = "vauban backup slot v1"
    static let continuationLabel = "vauban backup continuation v1"
}

extension BackupKeybag.Slot: DERReadable, DERWritable {
    init(from fields: inout DERFields) throws {
        purpose = try fields.integer("purpose", in: 1...11)
        wrapped = try fields.octets("wrapped key", in: 60...60)
    }

    func write(into der: inout DERWriter) throws {
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

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(generation)
            try fields.octets(wrapped)
        }
    }
}
