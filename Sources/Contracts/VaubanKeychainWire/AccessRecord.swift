// Records of the access log (Specs/access-log.md), as keychaind seals them and the command line shows them.

package import VaubanDER

/// The action on an item.
package enum AccessAction: Int64, Hashable, Sendable, CaseIterable {
    case read = 1
    case added = 2
    case changed = 3
    case deleted = 4
    case backedUp = 5
    case synchronized = 6
    /// A private key of the enclave signed.
    case signed = 7
    /// A private key of the enclave decrypted something, or agreed on a key.
    case decrypted = 8

    /// The word for the journal.
    package var journalWord: String {
        switch self {
        case .read: "read"
        case .added: "added"
        case .changed: "changed"
        case .deleted: "deleted"
        case .backedUp: "backedUp"
        case .synchronized: "synchronized"
        case .signed: "signed"
        case .decrypted: "decrypted"
        }
    }
}

/// The outcome of an action.
package enum AccessOutcome: Int64, Hashable, Sendable, CaseIterable {
    case done = 1
    /// Done after a prompt, or with what an earlier prompt allowed.
    case approved = 2
    case refused = 3
    /// The prompt was declined, not answered, or answered with wrong evidence.
    case notApproved = 4

    /// The word for the journal.
    package var journalWord: String {
        switch self {
        case .done: "done"
        case .approved: "approved"
        case .refused: "refused"
        case .notApproved: "notApproved"
        }
    }
}

/// What a program did to items within about a second: equal uses that are sealed together.
package struct AccessRecord: Hashable, Sendable {
    /// The most items in one record; further ones are in the next record, or are only counted.
    package static let itemsMax = 32
    package static let parentsMax = 8
    /// The most bytes of the program's commands and its parents together in one record.
    package static let pathsBytesMax = 4096

    /// The times of the first and the last use, in microseconds since the reference date.
    package var began: Int64
    package var ended: Int64
    package var action: AccessAction
    package var outcome: AccessOutcome
    /// The number of earlier uses that could not be recorded.
    package var unrecorded: Int64
    /// The program; nil where programs are not distinguished.
    package var program: AccessProgram?
    /// The executables of the processes above the program, the nearest first; empty text for one whose path could not be read. Empty if
    /// they are unknown, or if the uses are of processes with different parents.
    package var parents: [String]
    package var items: [UsedItem]

    package init(
        began: Int64, ended: Int64, action: AccessAction, outcome: AccessOutcome, unrecorded: Int64 = 0, program: AccessProgram?,
        parents: [String] = [], items: [UsedItem]
    ) {
        self.began = began
        self.ended = ended
        self.action = action
        self.outcome = outcome
        self.unrecorded = unrecorded
        self.program = program
        self.parents = parents
        self.items = items
    }
}

/// `AccessRecord ::= SEQUENCE { version INTEGER (1), began INTEGER, ended INTEGER, action INTEGER (1..8), outcome INTEGER (1..4),
///   unrecorded INTEGER (0..MAX), program [0] AccessProgram OPTIONAL,
///   parents [1] SEQUENCE OF SEQUENCE { UTF8String } OPTIONAL, items SEQUENCE OF UsedItem }`
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
        // Records of earlier versions have no parents.
        let parents = try fields.optional(1, "parents") {
            try $0.list("parents", max: Self.parentsMax, of: ListedPath.self).map(\.path)
        }
        guard parents?.isEmpty != true else { throw DERError("parents are empty") }
        self.parents = parents ?? []
        items = try fields.list("items", max: Self.itemsMax)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.integer(began)
            try fields.integer(ended)
            try fields.integer(action.rawValue)
            try fields.integer(outcome.rawValue)
            try fields.integer(unrecorded)
            if let program { try fields.tagged(0) { try $0.value(program) } }
            if !parents.isEmpty { try fields.tagged(1) { try $0.list(parents.map { ListedPath(path: $0) }) } }
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
        commands = try fields.list("commands", max: Self.commandsMax, of: ListedPath.self).map(\.path)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.text(application)
            try fields.text(path)
            try fields.boolean(throughCommandLine)
            try fields.list(commands.map { ListedPath(path: $0) })
        }
    }
}

/// One of the commands, or of the parents.
private struct ListedPath: DERReadable, DERWritable {
    let path: String

    init(path: String) { self.path = path }
    init(from fields: inout DERFields) throws { path = try fields.text("path", max: AccessProgram.textBytesMax) }
    func write(into der: inout DERWriter) throws { try der.sequence { try $0.text(path) } }
}

/// An item, and how often it was used.
///
/// `UsedItem ::= SEQUENCE { item OCTET STRING (SIZE (0..16)), kind INTEGER, count INTEGER (1..MAX), owner UTF8String, name UTF8String,
///   canary [0] SEQUENCE {} OPTIONAL }`
package struct UsedItem: Hashable, Sendable, DERReadable, DERWritable {
    package static let textBytesMax = 128

    /// The item's identity; empty if the item was only requested by name.
    package let item: [UInt8]
    package let kind: Int64
    /// The number of uses.
    package var count: Int64
    package let owner: String
    /// The item's name for the user; empty if it was locked.
    package let name: String
    /// Whether it was a canary.
    package var isCanary: Bool

    package init(item: [UInt8], kind: Int64, count: Int64 = 1, owner: String, name: String, isCanary: Bool = false) {
        self.item = item
        self.kind = kind
        self.count = count
        self.owner = owner
        self.name = name
        self.isCanary = isCanary
    }

    package init(from fields: inout DERFields) throws {
        item = try fields.octets("item", in: 0...16)
        kind = try fields.integer("kind", in: 0...Int64.max)
        count = try fields.integer("count", in: 1...Int64.max)
        owner = try fields.text("owner", max: Self.textBytesMax)
        name = try fields.text("name", max: Self.textBytesMax)
        isCanary = try fields.optional(0, "canary") { _ in true } ?? false
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(item)
            try fields.integer(kind)
            try fields.integer(count)
            try fields.text(owner)
            try fields.text(name)
            if isCanary { fields.tagged(0) { _ in } }
        }
    }
}

extension UsedItem {
    /// Returns an entry for uses of items that the record does not name.
    package static func further(_ count: Int64) -> UsedItem { UsedItem(item: [], kind: 0, count: count, owner: "", name: "") }

    package var isFurther: Bool { item.isEmpty && owner.isEmpty && name.isEmpty }
}
