package import SwiftASN1
package import VaubanDER
package import VaubanSyncModel

/// A synchronizable item, as it is listed.
package struct SyncRow: Hashable, Sendable {
    package let row: Int64
    /// The blinded name; nil if the item stays on this device whatever its attribute says.
    package let name: [UInt8]?
    package let mark: [UInt8]
    /// Microseconds since the reference date.
    package let changed: Int64
    /// What the user calls it.
    package let shownName: String

    package init(row: Int64, name: [UInt8]?, mark: [UInt8], changed: Int64, shownName: String) {
        self.row = row
        self.name = name
        self.mark = mark
        self.changed = changed
        self.shownName = shownName
    }
}

/// What became of an item of another device.
package enum SyncOutcome: Hashable, Sendable {
    /// It is in place; the mark is the row's. Nil after a deletion.
    case done(mark: [UInt8]?)
    /// The item was changed here meanwhile; nothing was written.
    case changedMeanwhile
}

/// A reply about synchronized items, before `done`.
package enum SyncReply: Hashable, Sendable {
    /// The keys of the circle's files are the secret section, if it was opened.
    case circle(CircleReply)
    case rows([SyncRow])
    /// A copied row. The rest of its secret half is the secret section.
    case item(row: Int64, mark: [UInt8], BackupItem)
    /// A row that was not copied: it is gone, or changed meanwhile.
    case omitted(row: Int64)
    case outcome(SyncOutcome)
}

extension SyncRow: DERReadable, DERWritable {
    package static let shownNameBytesMax = 256

    package init(from fields: inout DERFields) throws {
        row = try fields.integer("row", in: 1...Int64.max)
        mark = try fields.octets("mark", in: 16...16)
        changed = try fields.integer("changed", in: Int64.min...Int64.max)
        shownName = try fields.text("shown name", max: Self.shownNameBytesMax)
        name = try fields.optionalOctets(0, "name", in: 16...16)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(row)
            try fields.octets(mark)
            try fields.integer(changed)
            try fields.text(shownName)
            try fields.optionalOctets(0, name)
        }
    }
}

/// `SyncReply ::= CHOICE { circle [0], rows [1], item [2], omitted [3], done [4], changedMeanwhile [5] }`, in a SEQUENCE
extension SyncReply: DERReadable, DERWritable {
    package static let rowsMax = 100

    package init(from fields: inout DERFields) throws {
        let number = try fields.choice("sync reply")
        let reply: SyncReply? = try fields.optional(number, "sync reply") { reply in
            switch number {
            case 0: return .circle(try reply.value("circle"))
            case 1: return .rows(try reply.list("rows", max: Self.rowsMax))
            case 2:
                return .item(
                    row: try reply.integer("row", in: 1...Int64.max), mark: try reply.octets("mark", in: 16...16), try reply.value("item"))
            case 3: return .omitted(row: try reply.integer("row", in: 1...Int64.max))
            case 4: return .outcome(.done(mark: try reply.optionalOctets(0, "mark", in: 16...16)))
            case 5: return .outcome(.changedMeanwhile)
            default: throw DERError("sync reply is unknown")
            }
        }
        guard let reply else { throw DERError("sync reply is missing") }
        self = reply
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            switch self {
            case .circle(let reply): try fields.tagged(0) { try $0.value(reply) }
            case .rows(let rows): try fields.tagged(1) { try $0.list(rows) }
            case .item(let row, let mark, let item):
                try fields.tagged(2) {
                    try $0.integer(row); try $0.octets(mark); try $0.value(item)
                }
            case .omitted(let row): try fields.tagged(3) { try $0.integer(row) }
            case .outcome(.done(let mark)): try fields.tagged(4) { try $0.optionalOctets(0, mark) }
            case .outcome(.changedMeanwhile): fields.tagged(5) { _ in }
            }
        }
    }
}
