package import VaubanDER

/// keychaind's replies to a `BackupRequest` before `done`.
package enum BackupReply: Hashable, Sendable {
    /// The keybag to store; the key of the frames is the message's secret section.
    case begun(keybag: [UInt8])
    /// The next rows, in ascending order; none at the end.
    case rows([BackupRow])
    /// A copied row. The rest of its secret half is the message's secret section.
    case item(row: Int64, BackupItem)
    /// A row that is not in the backup, with the item's name.
    case omitted(row: Int64, name: String, BackupOmission)
    /// The outcome for a restored item, with its name.
    case restored(name: String, BackupOutcome)
    /// The requested items that were deleted.
    case deleted([[UInt8]])
    /// Which database this is, and the number of its last backup.
    case run(database: Int64, number: Int64)

    package static let nameBytesMax = 512
}

/// A row that can be backed up, and its mark, which changes with every write.
package struct BackupRow: Hashable, Sendable {
    package let row: Int64
    package let item: [UInt8]
    package let mark: [UInt8]

    package init(row: Int64, item: [UInt8], mark: [UInt8]) {
        self.row = row
        self.item = item
        self.mark = mark
    }
}

/// Why a row is not in a backup.
package enum BackupOmission: Int64, CaseIterable, Hashable, Sendable {
    /// Its class is bound to the passcode of this device (`WhenPasscodeSetThisDeviceOnly`).
    case passcodeClass = 1
    case accessControl = 2
    /// It is a private key that only this device's enclave can use.
    case enclaveKey = 3
    /// It cannot be decrypted, or was deleted meanwhile.
    case absent = 4
}

/// The outcome for an item of a backup.
package enum BackupOutcome: Int64, CaseIterable, Hashable, Sendable {
    case added = 1
    /// An older state was replaced. If it is a password whose secret differs, the replaced one is in the history.
    case replaced = 2
    case unchanged = 3
    /// The existing item is newer; or it has the same date, and an access control now, or is a key of the enclave.
    case kept = 4
    /// It stays on the device where it was backed up.
    case otherDevice = 5
    /// Another item has its name: a key or certificate whose value would be lost, or the name of the backup's newer state is taken.
    case nameTaken = 6
    /// The existing item is older, but has an access control or is a key of the enclave.
    case olderKept = 7
}

extension BackupRow: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        row = try fields.integer("row", in: 1...Int64.max)
        item = try fields.octets("item", in: 16...16)
        mark = try fields.octets("mark", in: 16...16)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(row)
            try fields.octets(item)
            try fields.octets(mark)
        }
    }
}

/// `BackupReply ::= CHOICE { begun [0], rows [1], item [2], omitted [3], restored [4], deleted [5], run [6] }`, in a separate field.
extension BackupReply: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        let number = try fields.choice("backup reply")
        let reply: BackupReply? = try fields.optional(number, "backup reply") { reply in
            switch number {
            case 0: return .begun(keybag: try reply.octets("keybag", in: 1...BackupRequest.keybagBytesMax))
            case 1: return .rows(try reply.list("rows", max: BackupRequest.rowsMax))
            case 2: return .item(row: try reply.integer("row", in: 1...Int64.max), try reply.value("item"))
            case 3:
                let row = try reply.integer("row", in: 1...Int64.max)
                let name = try reply.text("name", max: Self.nameBytesMax)
                guard let why = BackupOmission(rawValue: try reply.integer("omission", in: 1...255)) else {
                    throw DERError("omission is unknown")
                }
                return .omitted(row: row, name: name, why)
            case 4:
                let name = try reply.text("name", max: Self.nameBytesMax)
                guard let outcome = BackupOutcome(rawValue: try reply.integer("outcome", in: 1...255)) else {
                    throw DERError("outcome is unknown")
                }
                return .restored(name: name, outcome)
            case 5: return .deleted(try reply.backupItems())
            case 6:
                let database = try reply.integer("database", in: 0...Int64.max)
                return .run(database: database, number: try reply.integer("number", in: 0...Int64.max))
            default: throw DERError("backup reply is unknown")
            }
        }
        guard let reply else { throw DERError("backup reply is missing") }
        self = reply
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            switch self {
            case .begun(let keybag): try fields.tagged(0) { try $0.octets(keybag) }
            case .rows(let rows): try fields.tagged(1) { try $0.list(rows) }
            case .item(let row, let item):
                try fields.tagged(2) {
                    try $0.integer(row); try $0.value(item)
                }
            case .omitted(let row, let name, let why):
                try fields.tagged(3) {
                    try $0.integer(row); try $0.text(name); try $0.integer(why.rawValue)
                }
            case .restored(let name, let outcome):
                try fields.tagged(4) {
                    try $0.text(name); try $0.integer(outcome.rawValue)
                }
            case .deleted(let items): try fields.tagged(5) { reply in for item in items { try reply.octets(item) } }
            case .run(let database, let number):
                try fields.tagged(6) {
                    try $0.integer(database); try $0.integer(number)
                }
            }
        }
    }
}
