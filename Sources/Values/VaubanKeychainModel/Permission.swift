package import VaubanDER

/// A stored permission (Specs/access-groups.md).
///
/// `Permission ::= SEQUENCE { kind INTEGER { reads (1), sameProgram (2), buildsIn (3), offers (4), team (5) }, subject UTF8String,
///   object UTF8String }`
package struct Permission: Hashable, Sendable, DERReadable, DERWritable {
    package enum Kind: Int64, CaseIterable, Sendable {
        /// The subject, an application, may read an item. The object is the item's name and owner, for display.
        case reads = 1
        /// The subject, a build, is the same program as the object, an access group.
        case sameProgram = 2
        /// New builds of known programs in the subject, a folder, are accepted without a prompt. The object is empty.
        case buildsIn = 3
        /// The subject, an owner, allows other programs to request access to its items. The object is the number of items, for display.
        case offers = 4
        /// The subject, a team identifier, is trusted. The object is the team's name, followed by a tab and `by root` if root trusts it.
        case team = 5
    }

    package static let textBytesMax = 4200

    package let kind: Kind
    package let subject: String
    package let object: String

    package init(_ kind: Kind, subject: String, object: String = "") {
        self.kind = kind
        self.subject = subject
        self.object = object
    }

    package init(from fields: inout DERFields) throws {
        guard let kind = Kind(rawValue: try fields.integer("kind", in: 1...255)) else { throw DERError("kind is unknown") }
        self.kind = kind
        subject = try fields.text("subject", max: Self.textBytesMax)
        object = try fields.text("object", max: Self.textBytesMax)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(kind.rawValue)
            try fields.text(subject)
            try fields.text(object)
        }
    }
}

/// A permission to add or remove.
///
/// `PermissionChange ::= SEQUENCE { kind INTEGER, subject UTF8String, permits BOOLEAN, item [0] ItemQuery OPTIONAL,
///   name [1] UTF8String OPTIONAL }`; only `reads` has an item, and only a `team` that is to be trusted has a name.
package struct PermissionChange: Hashable, Sendable, DERReadable, DERWritable {
    package let kind: Permission.Kind
    package let subject: String
    package let permits: Bool
    package let item: ItemQuery?
    package let name: String?

    package init(_ kind: Permission.Kind, subject: String, permits: Bool, item: ItemQuery? = nil, name: String? = nil) {
        self.kind = kind
        self.subject = subject
        self.permits = permits
        self.item = item
        self.name = name
    }

    package init(from fields: inout DERFields) throws {
        guard let kind = Permission.Kind(rawValue: try fields.integer("kind", in: 1...255)) else { throw DERError("kind is unknown") }
        self.kind = kind
        subject = try fields.text("subject", max: Permission.textBytesMax)
        permits = try fields.boolean("permits")
        item = try fields.optional(0, "item") { try $0.value("item", as: ItemQuery.self) }
        name = try fields.optionalText(1, "name", max: Permission.textBytesMax)
        guard (name != nil) == (kind == .team && permits) else { throw DERError("a name goes with a team to trust") }
        guard (item != nil) == (kind == .reads) else { throw DERError("an item goes with a permission to read it") }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(kind.rawValue)
            try fields.text(subject)
            try fields.boolean(permits)
            if let item { try fields.tagged(0) { try $0.value(item) } }
            try fields.optionalText(1, name)
        }
    }
}
