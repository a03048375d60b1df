// Records of the access log (Specs/access-log.md), as keychaind seals them and the command line shows them.

package import SwiftASN1
package import VaubanDER

/// What was done to an item.
package enum AccessAction: Int64, Hashable, Sendable, CaseIterable {
    case read = 1
    case added = 2
    case changed = 3
    case deleted = 4
    case backedUp = 5
    case synchronized = 6
}

/// Whether it was done.
package enum AccessOutcome: Int64, Hashable, Sendable, CaseIterable {
    case done = 1
    /// Done after a prompt, or with what an earlier prompt allowed.
    case approved = 2
    case refused = 3
    /// The prompt was declined, not answered, or answered with wrong evidence.
    case declined = 4
}

/// What a program did to items within about a second: equal uses that are sealed together.
package struct AccessRecord: Hashable, Sendable {
    /// Items in one record; further ones are in the next.
    package static let itemsMax = 32

    /// When the first use and the last one happened, in microseconds since the reference date.
    package var began: Int64
    package var ended: Int64
    package var action: AccessAction
    package var outcome: AccessOutcome
    /// Uses before this record that could not be recorded.
    package var unrecorded: Int64
    /// The program; nil where programs are not told apart.
    package var program: AccessProgram?
    package var items: [UsedItem]

    package init(
        began: Int64, ended: Int64, action: AccessAction, outcome: AccessOutcome, unrecorded: Int64 = 0, program: AccessProgram?,
        items: [UsedItem]
    ) {
        self.began = began
        self.ended = ended
        self.action = action
        self.outcome = outcome
        self.unrecorded = unrecorded
        self.program = program
        self.items = items
    }
}

/// `AccessRecord ::= SEQUENCE { version INTEGER (1), began INTEGER, ended INTEGER, action INTEGER (1..6), outcome INTEGER (1..4),
///   unrecorded INTEGER (0..MAX), program [0] AccessProgram OPTIONAL, items SEQUENCE OF UsedItem }`
extension AccessRecord: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        began = try fields.integer("began", in: Int64.min...Int64.max)
        ended = try fields.integer("ended", in: Int64.min...Int64.max)
        guard let action = AccessAction(rawValue: try fields.integer("action", in: 1...255)),
            let outcome = AccessOutcome(rawValue: try fields.integer("outcome", in: 1...255))
        else { throw DERError("action or outcome is unknown") }
        self.action = action
        self.outcome = outcome
        unrecorded = try fields.integer("unrecorded", in: 0...Int64.max)
        program = try fields.optional(0, "program") { try $0.value("program", as: AccessProgram.self) }
        items = try fields.list("items", max: Self.itemsMax)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.integer(began)
            try fields.integer(ended)
            try fields.integer(action.rawValue)
            try fields.integer(outcome.rawValue)
            try fields.integer(unrecorded)
            if let program { try fields.tagged(0) { try $0.value(program) } }
            try fields.list(items)
        }
    }
}

/// A program, as the witness identified it.
///
/// `AccessProgram ::= SEQUENCE { application UTF8String, path UTF8String, throughCommandLine BOOLEAN,
///   commands SEQUENCE OF SEQUENCE { UTF8String } }`
package struct AccessProgram: Hashable, Sendable, DERReadable, DERWritable {
    package static let textBytesMax = 256
    package static let pathBytesMax = 1024
    package static let commandsMax = 16

    /// The application identifier; empty for a program without one.
    package let application: String
    /// The executable; empty if it could not be inspected.
    package let path: String
    /// Whether it used the keychain through the command line.
    package let throughCommandLine: Bool
    /// The Vauban commands that the program used, the caller's own first.
    package let commands: [String]

    package init(application: String, path: String, throughCommandLine: Bool, commands: [String]) {
        self.application = application
        self.path = path
        self.throughCommandLine = throughCommandLine
        self.commands = commands
    }

    package init(from fields: inout DERFields) throws {
        application = try fields.text("application", max: Self.textBytesMax)
        path = try fields.text("path", max: Self.pathBytesMax)
        throughCommandLine = try fields.boolean("through the command line")
        commands = try fields.list("commands", max: Self.commandsMax, of: Command.self).map(\.path)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.text(application)
            try fields.text(path)
            try fields.boolean(throughCommandLine)
            try fields.list(commands.map { Command(path: $0) })
        }
    }

    private struct Command: DERReadable, DERWritable {
        let path: String

        init(path: String) { self.path = path }
        init(from fields: inout DERFields) throws { path = try fields.text("path", max: AccessProgram.textBytesMax) }
        func write(into der: inout DER.Serializer) throws { try der.sequence { try $0.text(path) } }
    }
}

/// An item, and how often it was used.
///
/// `UsedItem ::= SEQUENCE { item OCTET STRING (SIZE (0..16)), kind INTEGER, count INTEGER (1..MAX), owner UTF8String, name UTF8String }`
package struct UsedItem: Hashable, Sendable, DERReadable, DERWritable {
    package static let textBytesMax = 128

    /// The item's identity; empty if the item was only asked for by its name.
    package let item: [UInt8]
    package let kind: Int64
    /// How often.
    package var count: Int64
    package let owner: String
    /// The name by which a user knows the item; empty if it was closed.
    package let name: String

    package init(item: [UInt8], kind: Int64, count: Int64 = 1, owner: String, name: String) {
        self.item = item
        self.kind = kind
        self.count = count
        self.owner = owner
        self.name = name
    }

    package init(from fields: inout DERFields) throws {
        item = try fields.octets("item", in: 0...16)
        kind = try fields.integer("kind", in: 0...Int64.max)
        count = try fields.integer("count", in: 1...Int64.max)
        owner = try fields.text("owner", max: Self.textBytesMax)
        name = try fields.text("name", max: Self.textBytesMax)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.octets(item)
            try fields.integer(kind)
            try fields.integer(count)
            try fields.text(owner)
            try fields.text(name)
        }
    }
}

/// Which records of the access log are wanted.
///
/// `AccessLogQuery ::= SEQUENCE { ofAllOwners BOOLEAN, verifies BOOLEAN, before [0] INTEGER (1..281474976710656) OPTIONAL }`
package struct AccessLogQuery: Hashable, Sendable, DERReadable, DERWritable {
    private static let numberMax: Int64 = 1 << 48

    /// Records with lower numbers; nil for the last ones.
    package var before: Int64?
    /// Whether the items of all owners are wanted, which takes the user's consent.
    package var ofAllOwners: Bool
    /// Whether all records are verified, and not these alone.
    package var verifies: Bool

    package init(before: Int64? = nil, ofAllOwners: Bool = false, verifies: Bool = false) {
        self.before = before
        self.ofAllOwners = ofAllOwners
        self.verifies = verifies
    }

    package init(from fields: inout DERFields) throws {
        ofAllOwners = try fields.boolean("of all owners")
        verifies = try fields.boolean("verifies")
        before = try fields.optionalInteger(0, "number", in: 1...Self.numberMax)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.boolean(ofAllOwners)
            try fields.boolean(verifies)
            try fields.optionalInteger(0, before)
        }
    }
}

/// A record as it was found.
///
/// `FoundRecord ::= SEQUENCE { number INTEGER (1..281474976710656), isHidden BOOLEAN, record [0] AccessRecord OPTIONAL }`
package struct FoundRecord: Hashable, Sendable, DERReadable, DERWritable {
    package let number: Int64
    /// Whether it is about other owners' items alone.
    package let isHidden: Bool
    /// Nil if it is hidden or cannot be read.
    package let record: AccessRecord?

    package init(number: Int64, isHidden: Bool = false, record: AccessRecord?) {
        self.number = number
        self.isHidden = isHidden
        self.record = record
    }

    package init(from fields: inout DERFields) throws {
        number = try fields.integer("number", in: 1...1 << 48)
        isHidden = try fields.boolean("is hidden")
        record = try fields.optional(0, "record") { try $0.value("record", as: AccessRecord.self) }
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(number)
            try fields.boolean(isHidden)
            if let record { try fields.tagged(0) { try $0.value(record) } }
        }
    }
}

/// What is wrong with the log's records.
///
/// `AccessLogFault ::= SEQUENCE { kind INTEGER (1..4), number INTEGER (0..281474976710656) }`
package struct AccessLogFault: Hashable, Sendable, DERReadable, DERWritable {
    package enum Kind: Int64, Hashable, Sendable {
        /// Records before this one are missing.
        case missingBefore = 1
        /// This record does not follow the one before it.
        case broken = 2
        /// The enclave knows of records up to this one, after the last one that is there.
        case missingAtEnd = 3
        /// This record is not the one that the enclave knows.
        case replaced = 4
    }

    package let kind: Kind
    package let number: Int64

    package init(_ kind: Kind, _ number: Int64) {
        self.kind = kind
        self.number = number
    }

    package init(from fields: inout DERFields) throws {
        guard let kind = Kind(rawValue: try fields.integer("kind", in: 1...255)) else { throw DERError("kind is unknown") }
        self.kind = kind
        number = try fields.integer("number", in: 0...1 << 48)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(kind.rawValue)
            try fields.integer(number)
        }
    }
}

/// Records of the log, the newest first.
///
/// `AccessLogPage ::= SEQUENCE { oldest INTEGER (0..281474976710656), faults SEQUENCE OF AccessLogFault, records SEQUENCE OF FoundRecord }`
package struct AccessLogPage: Hashable, Sendable, DERReadable, DERWritable {
    package static let recordsMax = 256
    package static let faultsMax = 64

    /// The number of the oldest record of the log; 0 if there is none.
    package let oldest: Int64
    /// The first faults of the log, if it was verified.
    package let faults: [AccessLogFault]
    package let records: [FoundRecord]

    package init(oldest: Int64, faults: [AccessLogFault], records: [FoundRecord]) {
        self.oldest = oldest
        self.faults = faults
        self.records = records
    }

    package init(from fields: inout DERFields) throws {
        oldest = try fields.integer("oldest", in: 0...1 << 48)
        faults = try fields.list("faults", max: Self.faultsMax)
        records = try fields.list("records", max: Self.recordsMax)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(oldest)
            try fields.list(faults)
            try fields.list(records)
        }
    }
}
