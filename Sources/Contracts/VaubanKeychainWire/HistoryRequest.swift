// Earlier values of items and deleted items, for the command line alone (Specs/history.md, keychain-wire.md).

package import SwiftASN1
package import VaubanAccessPolicy
package import VaubanDER
package import VaubanKeychainModel
internal import VaubanRefusal

/// What is asked of the history. A query must mean one item; number 1 is the value before the present one.
package enum HistoryRequest: Hashable, Sendable {
    /// When an item's earlier values were replaced, without the values.
    case list(ItemQuery)
    /// One earlier value, asking what it asked for when it was the present one.
    case value(ItemQuery, number: Int)
    /// Puts an earlier value back; the present one takes its place in the history.
    case undo(ItemQuery, number: Int)
    /// The items that can be restored, without their values: the caller's own, or those of every owner after the user's yes.
    case deleted(ofAllOwners: Bool)
    /// Restores the deleted item of this identity.
    case undelete([UInt8])
    /// Destroys the deleted item of this identity.
    case purge([UInt8])
    /// Destroys the earlier values of one item; without a query everything that is kept of the caller's own.
    case clear(ItemQuery?)
    /// Whether earlier values and deleted items are kept from now on; nil only asks.
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

    package func write(into der: inout DER.Serializer) throws {
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

    private static func write(_ query: ItemQuery, _ number: Int, into der: inout DER.Serializer) throws {
        try der.value(query)
        try der.integer(Int64(number))
    }
}

/// An earlier value, without it.
///
/// `ItemVersion ::= SEQUENCE { replaced INTEGER, changed INTEGER, protection Protection, accessControl [0] AccessControl OPTIONAL }`
package struct ItemVersion: Hashable, Sendable, DERReadable, DERWritable {
    /// When another value took its place, in microseconds since the reference date.
    package let replaced: Int64
    /// When the item was last changed while this was its value.
    package let changed: Int64
    package let protection: Protection
    package let accessControl: AccessControl?

    package init(replaced: Int64, changed: Int64, protection: Protection, accessControl: AccessControl?) {
        self.replaced = replaced
        self.changed = changed
        self.protection = protection
        self.accessControl = accessControl
    }

    package init(from fields: inout DERFields) throws {
        replaced = try fields.integer("replaced", in: Int64.min...Int64.max)
        changed = try fields.integer("changed", in: Int64.min...Int64.max)
        guard let known = Protection(number: try fields.integer("protection", in: 1...64)) else { throw DERError("protection is unknown") }
        protection = known
        accessControl = try fields.optional(0, "access control") { try $0.value("access control", as: AccessControl.self) }
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(replaced)
            try fields.integer(changed)
            try fields.integer(protection.number)
            if let accessControl { try fields.tagged(0) { try $0.value(accessControl) } }
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

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.octets(item)
            try fields.integer(deleted)
            try fields.value(record)
        }
    }
}
