// Earlier values of items and deleted items, for the command line only (Specs/history.md, keychain-wire.md).

package import VaubanDER
package import VaubanKeychainModel
internal import VaubanRefusal

/// A request about the history. A query must match one item; number 1 is the value before the current one.
package enum HistoryRequest: Hashable, Sendable {
    /// Returns an item's record, and those of its earlier versions with the dates on which they were replaced, without the values.
    case list(ItemQuery)
    /// Returns one earlier value, under the access control that it had when it was current.
    case value(ItemQuery, number: Int)
    /// Restores an earlier value; the current one moves to the history.
    case undo(ItemQuery, number: Int)
    /// Lists the items that can be restored, without their values: the caller's own, or with the user's consent those of every owner.
    case deleted(ofAllOwners: Bool)
    /// Restores a deleted item by its identity.
    case undelete([UInt8])
    /// Destroys a deleted item by its identity.
    case purge([UInt8])
    /// Destroys the earlier values of one item; without a query, the whole history of the caller's own items.
    case clear(ItemQuery?)
    /// Sets whether earlier values and deleted items are kept from now on; nil only reads the setting.
    case setting(Bool?)

    package static let numberMax: Int64 = 10
}

/// `HistoryRequest ::= CHOICE { list [0] FIELDS { ItemQuery }, value [1] FIELDS { ItemQuery, INTEGER (1..10) },
///   undo [2] FIELDS { ItemQuery, INTEGER (1..10) }, deleted [3] FIELDS { ofAllOwners BOOLEAN },
///   undelete [4] FIELDS { OCTET STRING (SIZE (16)) }, purge [5] FIELDS { OCTET STRING (SIZE (16)) },
///   clear [6] FIELDS { ItemQuery OPTIONAL }, setting [7] FIELDS { BOOLEAN OPTIONAL } }`, in a SEQUENCE
extension HistoryRequest: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        let number = try fields.choice("history")
        let request: HistoryRequest? = try fields.optional(number, "history") { call in
            switch number {
            case 0: return .list(try call.value("query"))
            case 1: return .value(try call.value("query"), number: try Self.number(&call))
            case 2: return .undo(try call.value("query"), number: try Self.number(&call))
            case 3: return .deleted(ofAllOwners: try call.boolean("of all owners"))
            case 4: return .undelete(try call.octets("item", in: 16...16))
            case 5: return .purge(try call.octets("item", in: 16...16))
            case 6: return .clear(call.isEmpty ? nil : try call.value("query", as: ItemQuery.self))
            case 7: return .setting(call.isEmpty ? nil : try call.boolean("setting"))
            default: throw Refusal(.unknownRequest, "history request \(number) is not known")
            }
        }
        guard let request else { throw DERError("history is missing") }
        self = request
    }

    private static func number(_ call: inout DERFields) throws -> Int { Int(try call.integer("number", in: 1...numberMax)) }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            switch self {
            case .list(let query): try fields.tagged(0) { try $0.value(query) }
            case .value(let query, let number): try fields.tagged(1) { try Self.write(query, number, into: &$0) }
            case .undo(let query, let number): try fields.tagged(2) { try Self.write(query, number, into: &$0) }
            case .deleted(let ofAllOwners): try fields.tagged(3) { try $0.boolean(ofAllOwners) }
            case .undelete(let item): try fields.tagged(4) { try $0.octets(item) }
            case .purge(let item): try fields.tagged(5) { try $0.octets(item) }
            case .clear(let query): try fields.tagged(6) { if let query { try $0.value(query) } }
            case .setting(let isOn): try fields.tagged(7) { if let isOn { try $0.boolean(isOn) } }
            }
        }
    }

    private static func write(_ query: ItemQuery, _ number: Int, into der: inout DERWriter) throws {
        try der.value(query)
        try der.integer(Int64(number))
    }
}

/// An earlier version of an item, without its value.
///
/// `ItemVersion ::= SEQUENCE { replaced INTEGER, record ItemRecord }`
package struct ItemVersion: Hashable, Sendable, DERReadable, DERWritable {
    /// When the value was replaced, in microseconds since the reference date.
    package let replaced: Int64
    /// The item as it was then.
    package let record: ItemRecord

    /// When the item was last changed while it had this value.
    package var changed: Int64 {
        if case .date(let date)? = record.attributes[.modificationDate] { date } else { replaced }
    }

    package init(replaced: Int64, record: ItemRecord) {
        self.replaced = replaced
        self.record = record
    }

    package init(from fields: inout DERFields) throws {
        replaced = try fields.integer("replaced", in: Int64.min...Int64.max)
        record = try fields.value("record")
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(replaced)
            try fields.value(record)
        }
    }
}

/// A deleted item that can be restored, without its value.
///
/// `DeletedItem ::= SEQUENCE { item OCTET STRING (SIZE (16)), deleted INTEGER, record ItemRecord }`
package struct DeletedItem: Hashable, Sendable, DERReadable, DERWritable {
    /// The item's identity.
    package let item: [UInt8]
    /// When it was deleted, in microseconds since the reference date.
    package let deleted: Int64
    package let record: ItemRecord

    package init(item: [UInt8], deleted: Int64, record: ItemRecord) {
        self.item = item
        self.deleted = deleted
        self.record = record
    }

    package init(from fields: inout DERFields) throws {
        item = try fields.octets("item", in: 16...16)
        deleted = try fields.integer("deleted", in: Int64.min...Int64.max)
        record = try fields.value("record")
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(item)
            try fields.integer(deleted)
            try fields.value(record)
        }
    }
}
