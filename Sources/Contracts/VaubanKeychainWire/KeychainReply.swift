package import SwiftASN1
package import VaubanDER
package import VaubanKeychainModel
package import VaubanRefusal

/// What the keychain answers. A search answers with any number of `items` and at last `done`; an item with its value
/// comes alone, the value being the message's secret section.
package enum KeychainReply: Hashable, Sendable {
    case refused(Refusal)
    case done
    case items([FoundItem])
    /// The user is being asked; machine time no longer runs. The text says where, for the caller's own terminal.
    case waitingForUser(String)
    /// The request waits for its turn; the reply follows.
    case queued
    case rewrapped(RewrapProgress)
    /// What is permitted; in as many messages as it takes.
    case permissions([Permission])
    /// How far the look at everything has come; the last one before `done` is its result.
    case examined(DoctorReport)
    case restorable(RestorableCopy)
    /// The next word on this connection is the enclave's.
    case handedOver
    /// An item's earlier values, the newest first.
    case versions([ItemVersion])
    /// One of the deleted items that can be restored.
    case deleted(DeletedItem)
    /// Whether the past is kept.
    case keepsHistory(Bool)
    /// How many earlier values and deleted items were destroyed.
    case cleared(Int)
    /// The name that the system gave the caller, where it has one, and the groups that are its own, in their order.
    case ownRights(application: String?, groups: [String])
}

/// One match: its record where attributes were asked for, its identity where a reference was, and whether a value comes
/// with it. An identity comes with its certificate, which is no secret; the value is the key's.
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

    package func write(into der: inout DER.Serializer) throws {
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
///   versions [9] SEQUENCE OF ItemVersion, deleted [10] DeletedItem, keepsHistory [11] BOOLEAN, cleared [12] INTEGER, ownRights [13]
/// ProgramRights,
///   queued [21] } }`
extension KeychainReply: DERReadable, DERWritable {
    /// Items in one message; more come in the next.
    package static let itemsMax = 256
    /// Permissions in one message.
    package static let permissionsMax = 6
    /// Earlier values of one item.
    package static let versionsMax = 10
    /// Groups of one caller; a file of entitlements is no longer than that.
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
            case 21: return .queued
            case 4: return .rewrapped(try reply.value("progress"))
            case 5: return .permissions(try reply.list("permissions", max: Self.permissionsMax))
            case 6: return .examined(try reply.value("report"))
            case 7: return .restorable(try reply.value("copy"))
            case 8: return .handedOver
            case 9: return .versions(try reply.list("versions", max: Self.versionsMax))
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
            default: throw DERError("reply is unknown")
            }
        }
        guard let reply else { throw DERError("reply is missing") }
        self = reply
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(KeychainRequest.version)
            switch self {
            case .refused(let refusal): try fields.tagged(0) { try $0.value(refusal) }
            case .done: fields.tagged(1) { _ in }
            case .items(let items): try fields.tagged(2) { try $0.list(items) }
            case .waitingForUser(let place): try fields.tagged(3) { try $0.text(place) }
            case .queued: fields.tagged(21) { _ in }
            case .rewrapped(let progress): try fields.tagged(4) { try $0.value(progress) }
            case .permissions(let permissions): try fields.tagged(5) { try $0.list(permissions) }
            case .examined(let report): try fields.tagged(6) { try $0.value(report) }
            case .restorable(let copy): try fields.tagged(7) { try $0.value(copy) }
            case .handedOver: fields.tagged(8) { _ in }
            case .versions(let versions): try fields.tagged(9) { try $0.list(versions) }
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
