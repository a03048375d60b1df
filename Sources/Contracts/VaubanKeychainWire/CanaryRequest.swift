// Canary items (Specs/canaries.md): items whose use is reported to the user at once.

package import VaubanDER
package import VaubanKeychainModel
internal import VaubanRefusal

/// A request about canary items.
///
/// `CanaryRequest ::= CHOICE { mark [0] SEQUENCE { query Query, isCanary BOOLEAN }, list [1] SEQUENCE {},
///   alerts [2] SEQUENCE { after [0] INTEGER (0..MAX) OPTIONAL }, acknowledge [3] SEQUENCE { total INTEGER (0..MAX) } }`
package enum CanaryRequest: Hashable, Sendable {
    /// Makes the one matching password a canary, or an ordinary item again.
    case mark(ItemQuery, isCanary: Bool)
    /// Returns the canary items, without their values.
    case list
    /// Returns the number of alerts. With a number, waits until there are more than that, but no longer than some minutes.
    case alerts(after: Int64?)
    /// Records that the user has seen the first `total` alerts.
    case acknowledge(total: Int64)
}

extension CanaryRequest: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        let number = try fields.choice("request")
        let request: CanaryRequest? = try fields.optional(number, "request") { request in
            switch number {
            case 0: return .mark(try request.value("query"), isCanary: try request.boolean("is canary"))
            case 1: return .list
            case 2: return .alerts(after: try request.optionalInteger(0, "number", in: 0...Int64.max))
            case 3: return .acknowledge(total: try request.integer("number", in: 0...Int64.max))
            default: throw Refusal(.unknownRequest, "canary request \(number) is not known to version \(KeychainRequest.version)")
            }
        }
        guard let request else { throw DERError("request is missing") }
        self = request
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            switch self {
            case .mark(let query, let isCanary):
                try fields.tagged(0) {
                    try $0.value(query); try $0.boolean(isCanary)
                }
            case .list: fields.tagged(1) { _ in }
            case .alerts(let number): try fields.tagged(2) { try $0.optionalInteger(0, number) }
            case .acknowledge(let total): try fields.tagged(3) { try $0.integer(total) }
            }
        }
    }
}

/// The uses of canary items so far.
///
/// `CanaryAlerts ::= SEQUENCE { total INTEGER (0..MAX), seen INTEGER (0..MAX), from [0] INTEGER (0..MAX) OPTIONAL }`
package struct CanaryAlerts: Hashable, Sendable, DERReadable, DERWritable {
    package let total: Int64
    /// The number of uses that the user has seen.
    package let seen: Int64
    /// The number of the log record with the first one that the user has not seen; nil if there is none in the log.
    package let from: Int64?

    package var unseen: Int64 { max(0, total - seen) }

    package init(total: Int64, seen: Int64, from: Int64?) {
        self.total = total
        self.seen = seen
        self.from = from
    }

    package init(from fields: inout DERFields) throws {
        total = try fields.integer("total", in: 0...Int64.max)
        seen = try fields.integer("seen", in: 0...Int64.max)
        from = try fields.optionalInteger(0, "from", in: 0...Int64.max)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(total)
            try fields.integer(seen)
            try fields.optionalInteger(0, from)
        }
    }
}

/// When and by which program an item was last used, according to the access log.
///
/// `LastUses ::= SEQUENCE { read [0] FoundRecord OPTIONAL, changed [1] FoundRecord OPTIONAL, keyUsed [2] FoundRecord OPTIONAL, coversAll
/// BOOLEAN }`
package struct LastUses: Hashable, Sendable, DERReadable, DERWritable {
    /// The last log record with a read of the item, and the last one with its addition or a change. Each contains only this item.
    package let read: FoundRecord?
    package let changed: FoundRecord?
    /// The last log record in which the item, a private key, signed or decrypted.
    package let keyUsed: FoundRecord?
    /// Whether the whole log was searched for the missing records.
    package let coversAll: Bool

    package init(read: FoundRecord?, changed: FoundRecord?, keyUsed: FoundRecord? = nil, coversAll: Bool) {
        self.read = read
        self.changed = changed
        self.keyUsed = keyUsed
        self.coversAll = coversAll
    }

    package init(from fields: inout DERFields) throws {
        read = try fields.optional(0, "read") { try $0.value("record", as: FoundRecord.self) }
        changed = try fields.optional(1, "changed") { try $0.value("record", as: FoundRecord.self) }
        keyUsed = try fields.optional(2, "key used") { try $0.value("record", as: FoundRecord.self) }
        coversAll = try fields.boolean("covers all")
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            if let read { try fields.tagged(0) { try $0.value(read) } }
            if let changed { try fields.tagged(1) { try $0.value(changed) } }
            if let keyUsed { try fields.tagged(2) { try $0.value(keyUsed) } }
            try fields.boolean(coversAll)
        }
    }
}
