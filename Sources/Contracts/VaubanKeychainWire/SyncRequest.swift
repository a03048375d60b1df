// Synchronized items on keychaind's socket (Specs/sync.md).

package import SwiftASN1
package import VaubanDER
package import VaubanSyncModel

/// A request about synchronized items, for the command line. A circle is open on a connection, from `circle(_, .open)` to the next or the
/// end of the connection.
package enum SyncRequest: Hashable, Sendable {
    /// Passed on to the enclave.
    case circle(CircleRequest)
    /// Lists the synchronizable items, in as many messages as needed.
    case list
    /// Copies rows for the circle's other devices, in this order, until about 4 MiB are sent.
    case copy([Int64])
    /// Puts an item of another device in place of the row with this mark, or of none. The rest of its secret half is the value.
    case put(BackupItem, epoch: Int64, name: [UInt8], replacing: [UInt8]?)
    /// Deletes an item if its row still has this mark.
    case delete(item: [UInt8], mark: [UInt8])
    /// Asks what became of items that were listed before.
    case fates([ItemQuestion])

    package static let rowsMax = 500
    package static let nameBytes = 16
    package static let markBytes = 16
    package static let itemBytes = 16
}

/// `SyncRequest ::= CHOICE { circle [0], list [1], copy [2], put [3], delete [4], fates [5] }`, in a SEQUENCE
extension SyncRequest: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        let number = try fields.choice("sync request")
        let request: SyncRequest? = try fields.optional(number, "sync request") { request in
            switch number {
            case 0: return .circle(try request.value("request"))
            case 1: return .list
            case 2:
                var rows: [Int64] = []
                while !request.isEmpty {
                    guard rows.count < Self.rowsMax else { throw DERError("rows are too many") }
                    rows.append(try request.integer("row", in: 1...Int64.max))
                }
                return .copy(rows)
            case 3:
                let mark = try request.optionalOctets(0, "mark", in: Self.markBytes...Self.markBytes)
                let item: BackupItem = try request.value("item")
                let epoch = try request.integer("epoch", in: 1...Int64(CircleRequest.epochsMax))
                let name = try request.octets("name", in: Self.nameBytes...Self.nameBytes)
                return .put(item, epoch: epoch, name: name, replacing: mark)
            case 4:
                let item = try request.octets("item", in: Self.itemBytes...Self.itemBytes)
                return .delete(item: item, mark: try request.octets("mark", in: Self.markBytes...Self.markBytes))
            case 5:
                var items: [ItemQuestion] = []
                while !request.isEmpty {
                    guard items.count < Self.rowsMax else { throw DERError("items are too many") }
                    let item = try request.octets("item", in: Self.itemBytes...Self.itemBytes)
                    items.append(ItemQuestion(item: item, changed: try request.integer("changed", in: Int64.min...Int64.max)))
                }
                return .fates(items)
            default: throw DERError("sync request is unknown")
            }
        }
        guard let request else { throw DERError("sync request is missing") }
        self = request
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            switch self {
            case .circle(let request): try fields.tagged(0) { try $0.value(request) }
            case .list: fields.tagged(1) { _ in }
            case .copy(let rows): try fields.tagged(2) { request in for row in rows { try request.integer(row) } }
            case .put(let item, let epoch, let name, let mark):
                try fields.tagged(3) { request in
                    try request.optionalOctets(0, mark)
                    try request.value(item)
                    try request.integer(epoch)
                    try request.octets(name)
                }
            case .delete(let item, let mark):
                try fields.tagged(4) {
                    try $0.octets(item); try $0.octets(mark)
                }
            case .fates(let items):
                try fields.tagged(5) { request in
                    for question in items {
                        try request.octets(question.item)
                        try request.integer(question.changed)
                    }
                }
            }
        }
    }
}
