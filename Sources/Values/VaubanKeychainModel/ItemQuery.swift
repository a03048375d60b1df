package import VaubanAccessPolicy
package import VaubanDER
internal import VaubanUserModel

/// The number of matches that a search returns.
package enum MatchLimit: Hashable, Sendable {
    case one
    case all
    case count(Int64)

    /// The largest number of items to return.
    package var countMax: Int {
        switch self {
        case .one: 1
        case .all: .max
        case .count(let count): Int(clamping: count)
        }
    }

    package var number: Int64 {
        switch self {
        case .one: 1
        case .all: 0
        case .count(let count): count
        }
    }

    package init(number: Int64) {
        self = number == 0 ? .all : number == 1 ? .one : .count(number)
    }
}

/// Whether a call may prompt the user (`kSecUseAuthenticationUI`).
package enum AuthenticationUI: Int64, Sendable {
    case allow = 0
    case fail = 1
    case skip = 2
    /// Returns attributes of protected items without the user, but never values. For listing items, which Apple's API does not offer;
    /// `Security` uses it only to find the item that a delete or an add refers to.
    case describe = 3
}

/// The parts of an item that a request returns.
package struct ReturnKinds: OptionSet, Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static let data = Self(rawValue: 1)
    package static let attributes = Self(rawValue: 2)
    /// The item's identity, from which a persistent reference is made.
    package static let reference = Self(rawValue: 4)
}

/// The part of a request that selects items. Attributes match by their bytes; the protection class filters like an attribute.
package struct ItemQuery: Hashable, Sendable {
    package var kind: ItemKind
    package var attributes: ItemAttributes
    package var protection: ProtectionClass?
    /// Whether synchronizable items match too (`kSecAttrSynchronizableAny`); false is like a query without the attribute.
    package var includesSynchronizable = false
    package var limit: MatchLimit = .one
    package var returns: ReturnKinds = []
    /// The item of a persistent reference: its identity, 16 bytes. The other criteria must match too.
    package var reference: [UInt8]?
    package var authenticationUI: AuthenticationUI = .allow
    /// Whether to describe items of every owner, with the user's consent. For the command line; `Security` never sets it.
    package var coversAllOwners = false
    /// The caller's reason, shown to the user under the caller's name (`kSecUseOperationPrompt`).
    package var operationPrompt: String?
    /// The authorization of the caller's context (`kSecUseAuthenticationContext`): a handle of the enclave.
    package var authorization: [UInt8]?

    package init(kind: ItemKind, attributes: ItemAttributes = ItemAttributes()) {
        self.kind = kind
        self.attributes = attributes
    }
}

/// `ItemQuery ::= SEQUENCE { kind INTEGER, attributes ItemAttributes, limit INTEGER, flags INTEGER, ui INTEGER,
///   protection [0] INTEGER OPTIONAL, prompt [1] UTF8String OPTIONAL,
///   reference [2] OCTET STRING (SIZE (16)) OPTIONAL, authorization [3] OCTET STRING (SIZE (32)) OPTIONAL }`
extension ItemQuery: DERReadable, DERWritable {
    /// Bytes of a reason. Longer ones are refused, never shortened.
    package static let operationPromptBytesMax = 1024

    private static let flagSynchronizable: Int64 = 4
    private static let flagAllOwners: Int64 = 8
    /// The flags of what to return.
    private static let returned: [(flag: Int64, kind: ReturnKinds)] = [(1, .data), (2, .attributes), (16, .reference)]

    package init(from fields: inout DERFields) throws {
        guard let kind = ItemKind(nameable: try fields.integer("kind", in: 1...255)) else { throw DERError("kind is unknown") }
        self.init(kind: kind, attributes: try fields.value("attributes"))
        limit = MatchLimit(number: try fields.integer("limit", in: 0...Int64(Int32.max)))
        let flags = try fields.integer("flags", in: 0...31)
        for (flag, kind) in Self.returned where flags & flag != 0 { returns.insert(kind) }
        includesSynchronizable = flags & Self.flagSynchronizable != 0
        coversAllOwners = flags & Self.flagAllOwners != 0
        guard let ui = AuthenticationUI(rawValue: try fields.integer("ui", in: 0...3)) else { throw DERError("ui is unknown") }
        authenticationUI = ui
        if let number = try fields.optionalInteger(0, "protection", in: 1...64) {
            guard let known = ProtectionClass(number: number) else { throw DERError("protection is unknown") }
            protection = known
        }
        operationPrompt = try fields.optionalText(1, "prompt", max: Self.operationPromptBytesMax)
        reference = try fields.optionalOctets(2, "reference", in: 16...16)
        authorization = try fields.optionalOctets(3, "authorization", in: EvaluationResult.handleBytes...EvaluationResult.handleBytes)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(kind.rawValue)
            try fields.value(attributes)
            try fields.integer(limit.number)
            var flags = (includesSynchronizable ? Self.flagSynchronizable : 0) | (coversAllOwners ? Self.flagAllOwners : 0)
            for (flag, kind) in Self.returned where returns.contains(kind) { flags |= flag }
            try fields.integer(flags)
            try fields.integer(authenticationUI.rawValue)
            try fields.optionalInteger(0, protection?.number)
            try fields.optionalText(1, operationPrompt)
            try fields.optionalOctets(2, reference)
            try fields.optionalOctets(3, authorization)
        }
    }
}
