// Synchronized items on keychaind's socket (Specs/sync.md).

package import VaubanDER
package import VaubanSyncModel

/// A request about synchronized items, for the command line. A circle is open on a connection, from `circle(_, .open)` to the next or the
/// end of the connection.
package enum SyncRequest: Hashable, Sendable {
    /// Passed on to the enclave, with the secret section if the request takes one.
    case circle(CircleRequest)
    /// Lists the synchronizable items, in as many messages as needed.
    case list
    /// Lists those of these items that exist here and are synchronizable.
    case listItems([[UInt8]])
    /// Copies rows for the circle's other devices, in this order, until about 4 MiB are sent.
    case copy([Int64])
    /// Stores an item of another device in place of the row with this mark, or as a new row, or merges it with that row. The rest of its
    /// secret half is the value. With `keepsReplaced`, the history keeps the replaced row even if only attributes differ.
    case put(BackupItem, epoch: Int64, name: [UInt8], replacing: [UInt8]?, merging: PartMerge? = nil, keepsReplaced: Bool = false)
    /// Stores items of another device that do not exist here yet, all in one transaction, or none. The rests of their secret halves are the
    /// value, one after the other.
    case putNew([SyncedItem])
    /// Deletes an item if its row still has this mark.
    case delete(item: [UInt8], mark: [UInt8])
    /// Returns the statuses of items that were listed before.
    case itemStatuses([ItemStatusQuery])
    /// Changes what companions receive, by rows. Prompts the user.
    case companion(CompanionChange, rows: [Int64])
    /// Copies rows for a companion like `copy`. Those that are not on its list are omitted.
    case copyForCompanion(device: [UInt8], [Int64])
    /// Returns the number of the last change of a synchronizable item. With a number, waits until it differs, but no longer than some
    /// minutes, and also returns the items changed since.
    case changes(since: Int64?)
    /// Returns the digests of the parts of those rows that are here.
    case parts([Int64])

    /// A change of a companion or its list, for the items of some rows.
    package enum CompanionChange: Hashable, Sendable {
        /// The device of a join request becomes a companion that receives them.
        case admit(reveal: [UInt8], code: String)
        case allow(device: [UInt8])
        /// Without rows, the names that no synchronizable item here has any more.
        case disallow(device: [UInt8])
        /// A device that has the token, which is made now, becomes a companion that receives them. The seed of the token's key is the
        /// secret of the reply.
        case makeToken(name: String, seconds: Int64)
    }

    /// Whether it carries a value: the rest of an item's secret half, or the seed of a token.
    package var takesValue: Bool {
        switch self {
        case .put, .putNew: true
        case .circle(let request): request.takesSecret
        case .list, .listItems, .copy, .delete, .itemStatuses, .companion, .copyForCompanion, .changes, .parts: false
        }
    }

    package static let rowsMax = 500
    /// The most changed items that are listed individually.
    package static let changedItemsMax = 100
    package static let nameBytes = 16
    package static let markBytes = 16
    package static let itemBytes = 16
}

/// `SyncRequest ::= CHOICE { circle [0], list [1], copy [2], put [3], delete [4], itemStatuses [5], admit [6], allow [7], disallow [8],
///   copyForCompanion [9], makeToken [10], changes [11], putNew [12],
///   listItems [13], parts [14] }`, in a SEQUENCE
extension SyncRequest: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        let number = try fields.choice("sync request")
        let request: SyncRequest? = try fields.optional(number, "sync request") { request in
            switch number {
            case 0: return .circle(try request.value("request"))
            case 1: return .list
            case 2: return .copy(try Self.rows(&request, max: Self.rowsMax))
            case 3:
                let mark = try request.optionalOctets(0, "mark", in: Self.markBytes...Self.markBytes)
                let item: BackupItem = try request.value("item")
                let epoch = try request.integer("epoch", in: 1...Int64(CircleRequest.epochsMax))
                let name = try request.octets("name", in: Self.nameBytes...Self.nameBytes)
                let keeps = try request.boolean("keeps replaced")
                let merge = try request.optional(1, "merge") { try PartMerge(from: &$0) }
                return .put(item, epoch: epoch, name: name, replacing: mark, merging: merge, keepsReplaced: keeps)
            case 4:
                let item = try request.octets("item", in: Self.itemBytes...Self.itemBytes)
                return .delete(item: item, mark: try request.octets("mark", in: Self.markBytes...Self.markBytes))
            case 5:
                var items: [ItemStatusQuery] = []
                while !request.isEmpty {
                    guard items.count < Self.rowsMax else { throw DERError("items are too many") }
                    let item = try request.octets("item", in: Self.itemBytes...Self.itemBytes)
                    items.append(ItemStatusQuery(item: item, changed: try request.integer("changed", in: Int64.min...Int64.max)))
                }
                return .itemStatuses(items)
            case 6:
                let reveal = try request.octets("document", in: 1...CircleRequest.documentBytesMax)
                let change = CompanionChange.admit(reveal: reveal, code: try request.text("code", max: CircleRequest.codeBytesMax))
                return .companion(change, rows: try Self.rows(&request, max: BlindedNames.countMax))
            case 7:
                let change = CompanionChange.allow(device: try Self.device(&request))
                return .companion(change, rows: try Self.rows(&request, max: BlindedNames.countMax))
            case 8:
                let change = CompanionChange.disallow(device: try Self.device(&request))
                return .companion(change, rows: try Self.rows(&request, max: BlindedNames.countMax))
            case 9: return .copyForCompanion(device: try Self.device(&request), try Self.rows(&request, max: Self.rowsMax))
            case 10:
                let change = CompanionChange.makeToken(
                    name: try request.text("name", max: CircleRequest.nameBytesMax),
                    seconds: try request.integer("seconds", in: JoinToken.seconds))
                return .companion(change, rows: try Self.rows(&request, max: BlindedNames.countMax))
            case 11: return .changes(since: try request.optionalInteger(0, "number", in: 0...Int64.max))
            case 12:
                let items: [SyncedItem] = try request.list("items", max: SyncedItem.countMax)
                guard !items.isEmpty else { throw DERError("items are missing") }
                return .putNew(items)
            case 13:
                var items: [[UInt8]] = []
                while !request.isEmpty {
                    guard items.count < Self.changedItemsMax else { throw DERError("items are too many") }
                    items.append(try request.octets("item", in: Self.itemBytes...Self.itemBytes))
                }
                return .listItems(items)
            case 14: return .parts(try Self.rows(&request, max: Self.rowsMax))
            default: throw DERError("sync request is unknown")
            }
        }
        guard let request else { throw DERError("sync request is missing") }
        self = request
    }

    private static func device(_ request: inout DERFields) throws -> [UInt8] {
        try request.octets("device", in: CircleRequest.deviceBytes...CircleRequest.deviceBytes)
    }

    /// Reads the numbers of rows to the end.
    private static func rows(_ request: inout DERFields, max: Int) throws -> [Int64] {
        var rows: [Int64] = []
        while !request.isEmpty {
            guard rows.count < max else { throw DERError("rows are too many") }
            rows.append(try request.integer("row", in: 1...Int64.max))
        }
        return rows
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            switch self {
            case .circle(let request): try fields.tagged(0) { try $0.value(request) }
            case .list: fields.tagged(1) { _ in }
            case .copy(let rows): try fields.tagged(2) { request in for row in rows { try request.integer(row) } }
            case .companion(let change, let rows):
                try fields.tagged(change.number) { request in
                    switch change {
                    case .admit(let reveal, let code):
                        try request.octets(reveal)
                        try request.text(code)
                    case .allow(let device), .disallow(let device): try request.octets(device)
                    case .makeToken(let name, let seconds):
                        try request.text(name)
                        try request.integer(seconds)
                    }
                    for row in rows { try request.integer(row) }
                }
            case .copyForCompanion(let device, let rows):
                try fields.tagged(9) { request in
                    try request.octets(device)
                    for row in rows { try request.integer(row) }
                }
            case .changes(let number): try fields.tagged(11) { try $0.optionalInteger(0, number) }
            case .putNew(let items): try fields.tagged(12) { try $0.list(items) }
            case .listItems(let items): try fields.tagged(13) { request in for item in items { try request.octets(item) } }
            case .parts(let rows): try fields.tagged(14) { request in for row in rows { try request.integer(row) } }
            case .put(let item, let epoch, let name, let mark, let merge, let keeps):
                try fields.tagged(3) { request in
                    try request.optionalOctets(0, mark)
                    try request.value(item)
                    try request.integer(epoch)
                    try request.octets(name)
                    try request.boolean(keeps)
                    if let merge { try request.tagged(1) { try merge.write(into: &$0) } }
                }
            case .delete(let item, let mark):
                try fields.tagged(4) {
                    try $0.octets(item); try $0.octets(mark)
                }
            case .itemStatuses(let items):
                try fields.tagged(5) { request in
                    for query in items {
                        try request.octets(query.item)
                        try request.integer(query.changed)
                    }
                }
            }
        }
    }
}

extension SyncRequest.CompanionChange {
    fileprivate var number: UInt {
        switch self {
        case .admit: 6
        case .allow: 7
        case .disallow: 8
        case .makeToken: 10
        }
    }
}
