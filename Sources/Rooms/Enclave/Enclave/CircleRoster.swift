// The parts of statements about companions, for the members and for each companion (Specs/sync.md, "A companion").

import VaubanDER
import VaubanSyncModel

/// A companion in the form that members have: its keys, and the items that it receives.
struct CompanionRecord: Hashable, Sendable, DERReadable, DERWritable {
    let device: CircleDevice
    var names: BlindedNames

    init(device: CircleDevice, names: BlindedNames) {
        self.device = device
        self.names = names
    }

    init(from fields: inout DERFields) throws {
        device = try fields.value("device")
        names = try fields.names("names")
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.value(device)
            try fields.octets(names.joined)
        }
    }
}

/// The members and companions in a statement, for the members.
struct CircleMembers: DERReadable, DERWritable {
    let list: [CircleDevice]
    let companions: [CompanionRecord]
    /// The public half of the recovery key, if the circle has one.
    let recovery: CircleDevice?

    init(_ list: [CircleDevice], _ companions: [CompanionRecord], recovery: CircleDevice?) {
        self.list = list
        self.companions = companions
        self.recovery = recovery
    }

    init(from fields: inout DERFields) throws {
        list = try fields.list("members", max: CircleRequest.membersMax)
        companions = try fields.companions(0)
        recovery = try fields.optional(1, "recovery") { try $0.value("recovery") }
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.list(list)
            try fields.companions(0, companions)
            if let recovery { try fields.tagged(1) { try $0.value(recovery) } }
        }
    }
}

/// The members in a statement, for a companion, which verifies their signatures and encrypts nothing to them.
struct CircleRoster: DERReadable, DERWritable {
    let list: [CircleMember]
    /// The verification half of the recovery key, if the circle has one.
    let recovery: CircleMember?

    init(_ list: [CircleMember], recovery: CircleMember?) {
        self.list = list
        self.recovery = recovery
    }

    init(from fields: inout DERFields) throws {
        list = try fields.list("members", max: CircleRequest.membersMax)
        recovery = try fields.optional(0, "recovery") { try $0.value("recovery") }
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.list(list)
            if let recovery { try fields.tagged(0) { try $0.value(recovery) } }
        }
    }
}

/// A statement's part for one companion.
struct CompanionPart: DERReadable, DERWritable {
    /// The companion's key. A member's share cannot be opened as a companion's, nor a companion's as a member's.
    let share: CircleStatement.Share
    /// The roster, encrypted with the companion key.
    let roster: [UInt8]
    /// Its earlier companion keys, wrapped with the newest; nil in the first epoch.
    let earlier: [UInt8]?

    init(share: CircleStatement.Share, roster: [UInt8], earlier: [UInt8]?) {
        self.share = share
        self.roster = roster
        self.earlier = earlier
    }

    init(from fields: inout DERFields) throws {
        share = try fields.value("share")
        roster = try fields.octets("roster", in: 29...20_000)
        earlier = try fields.optionalOctets(0, "earlier keys", in: 60...4096)
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.value(share)
            try fields.octets(roster)
            try fields.optionalOctets(0, earlier)
        }
    }
}
