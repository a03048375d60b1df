package import VaubanDER
package import VaubanKeychainModel
package import VaubanRefusal

/// A reply of keychaind. A search is answered with any number of `items` and a final `done`. An item with its value is sent alone, with the
/// value as the message's secret section.
package enum KeychainReply: Hashable, Sendable {
    case refused(Refusal)
    case done
    case items([FoundItem])
    /// The user is being prompted, so machine timeouts are suspended. The text is the place of the prompt, for the caller's own terminal.
    case waitingForUser(String)
    /// The request is queued; the final reply follows.
    case queued
    case rewrapped(RewrapProgress)
    /// Stored permissions, in as many messages as needed.
    case permissions([Permission])
    /// The progress of an examination; the last one before `done` is the result.
    case examined(DoctorReport)
    case restorable(RestorableCopy)
    /// The enclave sends the next message on this connection.
    case handedOver
    /// One of an item's earlier versions, newest first.
    case version(ItemVersion)
    /// One of the deleted items that can be restored.
    case deleted(DeletedItem)
    /// Whether the history is kept.
    case keepsHistory(Bool)
    /// Number of earlier values and deleted items that were destroyed.
    case cleared(Int)
    /// The reply to a request about a backup, before `done`.
    case backup(BackupReply)
    /// The reply to a request about synchronized items, before `done`.
    case sync(SyncReply)
    /// Records of the access log, before `done`.
    case accessLog(AccessLogPage)
    /// The last uses of an item, before `done`.
    case lastUses(LastUses)
    /// The signed end of the access log, before `done`.
    case logHead(LogHeadReply)
    /// The uses of canary items so far, before `done`.
    case canaryAlerts(CanaryAlerts)
    /// The caller's application identifier, if it has one, and its own access groups in order.
    case ownRights(application: String?, groups: [String])
}

/// One match: its record if attributes were requested, its identity if a reference was, and whether a value follows. An identity carries
/// its certificate, which is not secret; the value is then the key's.
///
/// `FoundItem ::= SEQUENCE { hasData BOOLEAN, record [0] ItemRecord OPTIONAL, reference [1] OCTET STRING OPTIONAL,
///   certificate [2] OCTET STRING OPTIONAL }`
package struct FoundItem: Hashable, Sendable, DERReadable, DERWritable {
    package static let certificateBytesMax = 32_768

    package let record: ItemRecord?
    package let hasData: Bool
    package let reference: [UInt8]?
    package let certificate: [UInt8]?

    package init(record: ItemRecord?, hasData: Bool, reference: [UInt8]? = nil, certificate: [UInt8]? = nil) {
        self.record = record
        self.hasData = hasData
        self.reference = reference
        self.certificate = certificate
    }

    package init(from fields: inout DERFields) throws {
        hasData = try fields.boolean("has data")
        record = try fields.optional(0, "record") { try $0.value("record", as: ItemRecord.self) }
        reference = try fields.optionalOctets(1, "reference", in: 16...16)
        certificate = try fields.optionalOctets(2, "certificate", in: 1...Self.certificateBytesMax)
    }

    /// An upper bound of the encoded size in bytes, which is faster to compute than the encoding.
    package var encodedBytesMax: Int {
        let attributes = record?.attributes.reduce(Self.otherBytesMax) { $0 + Self.attributeBytesMax + $1.value.contentBytes } ?? 0
        return Self.otherBytesMax + attributes + (certificate?.count ?? 0)
    }

    /// Four identifiers with lengths and the name of an attribute; the overhead of an item, or its record, besides attributes and
    /// certificate.
    private static let attributeBytesMax = 4 * 5 + 4
    private static let otherBytesMax = 96

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.boolean(hasData)
            if let record { try fields.tagged(0) { try $0.value(record) } }
            try fields.optionalOctets(1, reference)
            try fields.optionalOctets(2, certificate)
        }
    }
}

/// `KeychainReply ::= SEQUENCE { version INTEGER (1), CHOICE { refused [0] Refusal, done [1], items [2] SEQUENCE OF
///   FoundItem, waitingForUser [3] UTF8String, rewrapped [4] RewrapProgress,
///   permissions [5] SEQUENCE OF Permission, examined [6] DoctorReport, restorable [7] RestorableCopy, handedOver [8],
///   version [9] ItemVersion, deleted [10] DeletedItem, keepsHistory [11] BOOLEAN, cleared [12] INTEGER,
///   ownRights [13] ProgramRights, sync [14] SyncReply, accessLog [15] AccessLogPage, backup [20] BackupReply, queued [21],
///   canaryAlerts [27] CanaryAlerts, lastUses [28] LastUses,
///   logHead [29] LogHeadReply } }`
extension KeychainReply: DERReadable, DERWritable {
    /// Items in one message; further ones are sent in the next.
    package static let itemsMax = 256
    /// Permissions in one message.
    package static let permissionsMax = 6
    /// Access groups of one caller, as many as an entitlements file can list.
    package static let groupsMax = 4096

    package init(from fields: inout DERFields) throws {
        try fields.version(KeychainRequest.version)
        let number = try fields.choice("reply")
        let reply: KeychainReply? = try fields.optional(number, "reply") { reply in
            switch number {
            case 0: return .refused(try reply.value("refusal"))
            case 1: return .done
            case 2: return .items(try reply.list("items", max: Self.itemsMax))
            case 3: return .waitingForUser(try reply.text("where", max: 512))
            case 20: return .backup(try reply.value("backup"))
            case 21: return .queued
            case 4: return .rewrapped(try reply.value("progress"))
            case 5: return .permissions(try reply.list("permissions", max: Self.permissionsMax))
            case 6: return .examined(try reply.value("report"))
            case 7: return .restorable(try reply.value("copy"))
            case 8: return .handedOver
            case 9: return .version(try reply.value("version"))
            case 10: return .deleted(try reply.value("deleted item"))
            case 11: return .keepsHistory(try reply.boolean("keeps history"))
            case 12: return .cleared(Int(try reply.integer("cleared", in: 0...Int64.max)))
            case 13:
                let application = try reply.optional(0, "application") { try $0.text("name", max: Permission.textBytesMax) }
                let groups = try reply.optional(1, "groups") { list in
                    var texts: [String] = []
                    while !list.isEmpty {
                        guard texts.count < Self.groupsMax else { throw DERError("groups are too many") }
                        texts.append(try list.text("group", max: Permission.textBytesMax))
                    }
                    return texts
                }
                return .ownRights(application: application, groups: groups ?? [])
            case 14: return .sync(try reply.value("sync"))
            case 15: return .accessLog(try reply.value("page"))
            case 27: return .canaryAlerts(try reply.value("alerts"))
            case 28: return .lastUses(try reply.value("uses"))
            case 29: return .logHead(try reply.value("head"))
            default: throw DERError("reply is unknown")
            }
        }
        guard let reply else { throw DERError("reply is missing") }
        self = reply
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(KeychainRequest.version)
            switch self {
            case .refused(let refusal): try fields.tagged(0) { try $0.value(refusal) }
            case .done: fields.tagged(1) { _ in }
            case .items(let items): try fields.tagged(2) { try $0.list(items) }
            case .waitingForUser(let place): try fields.tagged(3) { try $0.text(place) }
            case .sync(let reply): try fields.tagged(14) { try $0.value(reply) }
            case .backup(let reply): try fields.tagged(20) { try $0.value(reply) }
            case .accessLog(let page): try fields.tagged(15) { try $0.value(page) }
            case .lastUses(let uses): try fields.tagged(28) { try $0.value(uses) }
            case .logHead(let reply): try fields.tagged(29) { try $0.value(reply) }
            case .canaryAlerts(let alerts): try fields.tagged(27) { try $0.value(alerts) }
            case .queued: fields.tagged(21) { _ in }
            case .rewrapped(let progress): try fields.tagged(4) { try $0.value(progress) }
            case .permissions(let permissions): try fields.tagged(5) { try $0.list(permissions) }
            case .examined(let report): try fields.tagged(6) { try $0.value(report) }
            case .restorable(let copy): try fields.tagged(7) { try $0.value(copy) }
            case .handedOver: fields.tagged(8) { _ in }
            case .version(let version): try fields.tagged(9) { try $0.value(version) }
            case .deleted(let item): try fields.tagged(10) { try $0.value(item) }
            case .keepsHistory(let isOn): try fields.tagged(11) { try $0.boolean(isOn) }
            case .cleared(let count): try fields.tagged(12) { try $0.integer(Int64(count)) }
            case .ownRights(let application, let groups):
                try fields.tagged(13) { reply in
                    if let application { try reply.tagged(0) { try $0.text(application) } }
                    if !groups.isEmpty { try reply.tagged(1) { list in for group in groups { try list.text(group) } } }
                }
            }
        }
    }
}
