package import VaubanDER
package import VaubanSyncModel

/// A synchronizable item in a list.
package struct SyncRow: Hashable, Sendable {
    package let row: Int64
    /// The blinded name, or the item's identity on a companion, which has no key of names; nil if the item stays on this device whatever
    /// its attribute says.
    package let name: [UInt8]?
    /// Changes with every write of the row.
    package let mark: [UInt8]
    /// The item's identity on this device, which stays the same.
    package let item: [UInt8]
    /// Microseconds since the reference date.
    package let changed: Int64
    /// The name shown to the user; empty for another program's item.
    package let shownName: String

    package init(row: Int64, name: [UInt8]?, mark: [UInt8], item: [UInt8], changed: Int64, shownName: String) {
        self.row = row
        self.name = name
        self.mark = mark
        self.item = item
        self.changed = changed
        self.shownName = shownName
    }
}

/// The outcome for an item of another device.
package enum SyncOutcome: Hashable, Sendable {
    /// It is stored as the row with this mark, identity and date of change. A companion has no digests of its parts.
    case placed(mark: [UInt8], item: [UInt8], changed: Int64, parts: PartDigests?)
    /// It was merged with the item here.
    case merged(MergedItem)
    /// It is deleted.
    case deleted
    /// The item was changed here meanwhile; nothing was written.
    case changedMeanwhile
    /// An item here has the same name, and may neither leave this device nor be replaced from another; nothing was written.
    case nameTaken
}

/// A reply about synchronized items, before `done`.
package enum SyncReply: Hashable, Sendable {
    /// The keys of the circle's files are the secret section, if it was opened.
    case circle(CircleReply)
    case rows([SyncRow])
    /// A copied row, with the digests of its parts unless it is for a companion. The rest of its secret half is the secret section.
    case item(row: Int64, mark: [UInt8], BackupItem, parts: PartDigests?)
    /// A row that was not copied: it no longer exists, or changed meanwhile.
    case omitted(row: Int64)
    case outcome(SyncOutcome)
    /// The statuses of the requested items, in the same order.
    case itemStatuses([ItemStatus])
    /// All rows were listed. The number grows with each list, so a lower one comes from an earlier database.
    case listed(number: Int64)
    /// The number of the last change of a synchronizable item that was not made for another device, and the items that were changed since
    /// the requested number; nil if they are too many, or no longer known.
    case changes(number: Int64, items: [[UInt8]]?)
    /// The digests of the parts of a row.
    case parts(row: Int64, mark: [UInt8], PartDigests)
}

extension SyncRow: DERReadable, DERWritable {
    package static let shownNameBytesMax = 256

    package init(from fields: inout DERFields) throws {
        row = try fields.integer("row", in: 1...Int64.max)
        mark = try fields.octets("mark", in: 16...16)
        item = try fields.octets("item", in: 16...16)
        changed = try fields.integer("changed", in: Int64.min...Int64.max)
        shownName = try fields.text("shown name", max: Self.shownNameBytesMax)
        name = try fields.optionalOctets(0, "name", in: 16...16)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(row)
            try fields.octets(mark)
            try fields.octets(item)
            try fields.integer(changed)
            try fields.text(shownName)
            try fields.optionalOctets(0, name)
        }
    }
}

/// `SyncReply ::= CHOICE { circle [0], rows [1], item [2], omitted [3], placed [4], deleted [5], changedMeanwhile [6],
///   nameTaken [7], itemStatuses [8], listed [9], changes [10], merged [11],
///   parts [12] }`, in a SEQUENCE
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
                    row: try reply.integer("row", in: 1...Int64.max), mark: try reply.octets("mark", in: 16...16), try reply.value("item"),
                    parts: try reply.optionalParts(0))
            case 3: return .omitted(row: try reply.integer("row", in: 1...Int64.max))
            case 4:
                let (mark, item) = (try reply.octets("mark", in: 16...16), try reply.octets("item", in: 16...16))
                let changed = try reply.integer("changed", in: Int64.min...Int64.max)
                return .outcome(.placed(mark: mark, item: item, changed: changed, parts: try reply.optionalParts(0)))
            case 5: return .outcome(.deleted)
            case 6: return .outcome(.changedMeanwhile)
            case 7: return .outcome(.nameTaken)
            case 8:
                var statuses: [ItemStatus] = []
                while !reply.isEmpty {
                    guard statuses.count < SyncRequest.rowsMax, let status = ItemStatus(rawValue: try reply.integer("status", in: 1...5))
                    else {
                        throw DERError("the item statuses are too many")
                    }
                    statuses.append(status)
                }
                return .itemStatuses(statuses)
            case 9: return .listed(number: try reply.integer("number", in: 0...Int64.max))
            case 10:
                let number = try reply.integer("number", in: 0...Int64.max)
                let bytes = try reply.optionalOctets(0, "items", in: 0...SyncRequest.changedItemsMax * SyncRequest.itemBytes)
                guard (bytes ?? []).count % SyncRequest.itemBytes == 0 else { throw DERError("items are cut") }
                return .changes(
                    number: number,
                    items: bytes.map { bytes in
                        stride(from: 0, to: bytes.count, by: SyncRequest.itemBytes).map { Array(bytes[$0..<$0 + SyncRequest.itemBytes]) }
                    })
            case 11: return .outcome(.merged(try reply.value("merged item")))
            case 12:
                return .parts(
                    row: try reply.integer("row", in: 1...Int64.max), mark: try reply.octets("mark", in: 16...16), try reply.parts())
            default: throw DERError("sync reply is unknown")
            }
        }
        guard let reply else { throw DERError("sync reply is missing") }
        self = reply
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            switch self {
            case .circle(let reply): try fields.tagged(0) { try $0.value(reply) }
            case .rows(let rows): try fields.tagged(1) { try $0.list(rows) }
            case .item(let row, let mark, let item, let parts):
                try fields.tagged(2) {
                    try $0.integer(row); try $0.octets(mark); try $0.value(item); try $0.optionalOctets(0, parts?.bytes)
                }
            case .omitted(let row): try fields.tagged(3) { try $0.integer(row) }
            case .outcome(.placed(let mark, let item, let changed, let parts)):
                try fields.tagged(4) {
                    try $0.octets(mark); try $0.octets(item); try $0.integer(changed); try $0.optionalOctets(0, parts?.bytes)
                }
            case .outcome(.deleted): fields.tagged(5) { _ in }
            case .outcome(.changedMeanwhile): fields.tagged(6) { _ in }
            case .outcome(.nameTaken): fields.tagged(7) { _ in }
            case .outcome(.merged(let item)): try fields.tagged(11) { try $0.value(item) }
            case .parts(let row, let mark, let parts):
                try fields.tagged(12) {
                    try $0.integer(row); try $0.octets(mark); try $0.octets(parts.bytes)
                }
            case .itemStatuses(let statuses):
                try fields.tagged(8) { reply in for status in statuses { try reply.integer(status.rawValue) } }
            case .listed(let number): try fields.tagged(9) { try $0.integer(number) }
            case .changes(let number, let items):
                try fields.tagged(10) {
                    try $0.integer(number); try $0.optionalOctets(0, items.map { $0.flatMap(\.self) })
                }
            }
        }
    }
}
