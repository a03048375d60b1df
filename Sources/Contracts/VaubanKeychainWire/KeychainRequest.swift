// The door of keychaind (Specs/keychain-wire.md).

package import SwiftASN1
package import VaubanAccessPolicy
package import VaubanDER
package import VaubanKeychainModel
internal import VaubanRefusal

/// What a caller asks of the keychain. A value to store travels as the message's secret section; `passwordBytes` says how
/// many of the section's last bytes are the application's password, for items that need one.
package enum KeychainRequest: Hashable, Sendable {
    /// `hasData` tells an empty value from none.
    /// `applications` may read it besides its owner (`kSecAttrAccess`).
    case add(ItemRecord, returns: ReturnKinds, hasData: Bool, passwordBytes: Int? = nil, applications: [String] = [])
    case copyMatching(ItemQuery, passwordBytes: Int? = nil)
    case update(ItemQuery, ItemChanges, passwordBytes: Int? = nil)
    /// An item can be restored for a while, unless it is to be gone `atOnce`.
    case delete(ItemQuery, atOnce: Bool = false)
    /// Moves a batch of this user's rows to the current keys of their classes.
    case rewrap
    /// Removes what no key opens any more: rows whose class key was destroyed, everything after an erasure.
    case discard
    /// What the user has permitted so far.
    case permissions
    /// Permits something, or no longer, after the user has said yes.
    case permit(PermissionChange)
    /// Gives a batch of the items that belong to nobody (`unsigned`) to an owner. The first batch asks the user; it is
    /// repeated until none are left.
    case move(to: String)
    /// Lays attributes over the one item that is meant, its owner among them, or makes a copy that has them. A change of owner, and
    /// a copy of another owner's item, ask the user.
    case transfer(ItemQuery, ItemAttributes, keepsOriginal: Bool)
    /// Looks at every row of the user and at the file, puts right what it can, and tells it in numbers.
    case examine
    /// Puts the last verified copy of this date in the place of a damaged database; without a date it tells what there is.
    case restore(copyOf: Int64?)
    /// The enclave takes this connection over: what follows on it are uses of private keys, and no room stands in between.
    case handOver
    /// Reads and changes what is kept of the past.
    case history(HistoryRequest, passwordBytes: Int? = nil)
    /// What the caller is called, and which groups are its own.
    case ownRights

    package static let applicationsMax = 64
    package static let passwordBytesMax = 1024
}

extension KeychainRequest {
    /// What the caller's context was authorized by, where the call has one.
    package var authorization: [UInt8]? {
        switch self {
        case .copyMatching(let query, _), .update(let query, _, _), .delete(let query, _), .transfer(let query, _, _): query.authorization
        default: nil
        }
    }
}

/// How far the rows have come on their way to the current keys, as one batch left them.
package struct RewrapProgress: Hashable, Sendable {
    /// Rows that this batch moved.
    package var done: Int
    /// Rows that the next batches can move; with none left it is over.
    package var left: Int
    /// Rows that stay where they are for now: of a class that is closed, put aside, or made by an older version so that
    /// moving them takes their user. Of those that a batch did not come to, none is counted.
    package var kept: Int

    package init(done: Int, left: Int, kept: Int) {
        self.done = done
        self.left = left
        self.kept = kept
    }
}

/// `RewrapProgress ::= SEQUENCE { done INTEGER (0..MAX), left INTEGER (0..MAX), kept INTEGER (0..MAX) }`
extension RewrapProgress: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        done = Int(try fields.integer("done", in: 0...Int64.max))
        left = Int(try fields.integer("left", in: 0...Int64.max))
        kept = Int(try fields.integer("kept", in: 0...Int64.max))
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(Int64(done))
            try fields.integer(Int64(left))
            try fields.integer(Int64(kept))
        }
    }
}

/// Which parts of an added item come back.
package struct ReturnKinds: OptionSet, Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package static let data = Self(rawValue: 1)
    package static let attributes = Self(rawValue: 2)
    package static let reference = Self(rawValue: 4)
}

/// What an update sets. What is absent stays.
package struct ItemChanges: Hashable, Sendable {
    package var attributes: ItemAttributes
    package var protection: Protection?
    package var accessControl: AccessControl?
    package var hasData: Bool

    package init(attributes: ItemAttributes, protection: Protection? = nil, accessControl: AccessControl? = nil, hasData: Bool = false) {
        self.attributes = attributes
        self.protection = protection
        self.accessControl = accessControl
        self.hasData = hasData
    }
}

extension ItemChanges: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        let attributes: ItemAttributes = try fields.value("attributes")
        let hasData = try fields.boolean("has data")
        var protection: Protection?
        if let number = try fields.optionalInteger(0, "protection", in: 1...64) {
            guard let known = Protection(number: number) else { throw DERError("protection is unknown") }
            protection = known
        }
        let control = try fields.optional(1, "access control") { try $0.value("access control", as: AccessControl.self) }
        self.init(attributes: attributes, protection: protection, accessControl: control, hasData: hasData)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.value(attributes)
            try fields.boolean(hasData)
            try fields.optionalInteger(0, protection?.number)
            if let accessControl { try fields.tagged(1) { try $0.value(accessControl) } }
        }
    }
}

/// `KeychainRequest ::= SEQUENCE { version INTEGER (1), call CHOICE { add [0], copyMatching [1], update [2], delete [3],
///   rewrap [4], discard [5], permissions [6], permit [7], move [8], examine [9], restore [10], handOver [11],
///   history [12], ownRights [13], transfer [16] } }`
extension KeychainRequest: DERReadable, DERWritable {
    package static let version: Int64 = 1

    package init(from fields: inout DERFields) throws {
        try fields.version(Self.version)
        let number = try fields.choice("call")
        let call: KeychainRequest? = try fields.optional(number, "call") { call in
            switch number {
            case 0:
                let record: ItemRecord = try call.value("record")
                let returns = ReturnKinds(rawValue: try call.integer("returns", in: 0...7))
                let hasData = try call.boolean("has data")
                let passwordBytes = try Self.passwordBytes(&call)
                let applications = try call.optional(1, "applications") { list in
                    var texts: [String] = []
                    while !list.isEmpty {
                        guard texts.count < Self.applicationsMax else { throw DERError("applications are too many") }
                        texts.append(try list.text("application", max: Permission.textBytesMax))
                    }
                    return texts
                }
                return .add(record, returns: returns, hasData: hasData, passwordBytes: passwordBytes, applications: applications ?? [])
            case 1: return .copyMatching(try call.value("query"), passwordBytes: try Self.passwordBytes(&call))
            case 2: return .update(try call.value("query"), try call.value("changes"), passwordBytes: try Self.passwordBytes(&call))
            case 3: return .delete(try call.value("query"), atOnce: try call.optional(0, "at once") { _ in true } ?? false)
            case 4: return .rewrap
            case 5: return .discard
            case 6: return .permissions
            case 7: return .permit(try call.value("change"))
            case 8: return .move(to: try call.text("owner", max: 512))
            case 9: return .examine
            case 10: return .restore(copyOf: try call.optionalInteger(0, "date", in: Int64.min...Int64.max))
            case 11: return .handOver
            case 12: return .history(try call.value("history"), passwordBytes: try Self.passwordBytes(&call))
            case 13: return .ownRights
            case 16:
                let query: ItemQuery = try call.value("query")
                return .transfer(query, try call.value("attributes"), keepsOriginal: try call.boolean("keeps original"))
            default: throw Refusal(.unknownRequest, "keychain request \(number) is not known to version \(Self.version)")
            }
        }
        guard let call else { throw DERError("call is missing") }
        self = call
    }

    private static func passwordBytes(_ call: inout DERFields) throws -> Int? {
        try call.optionalInteger(0, "password bytes", in: 1...Int64(passwordBytesMax)).map { Int($0) }
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(Self.version)
            switch self {
            case .add(let record, let returns, let hasData, let passwordBytes, let applications):
                try fields.tagged(0) { call in
                    try call.value(record)
                    try call.integer(returns.rawValue)
                    try call.boolean(hasData)
                    try call.optionalInteger(0, passwordBytes.map { Int64($0) })
                    if !applications.isEmpty { try call.tagged(1) { list in for text in applications { try list.text(text) } } }
                }
            case .copyMatching(let query, let passwordBytes):
                try fields.tagged(1) { call in
                    try call.value(query)
                    try call.optionalInteger(0, passwordBytes.map { Int64($0) })
                }
            case .update(let query, let changes, let passwordBytes):
                try fields.tagged(2) { call in
                    try call.value(query)
                    try call.value(changes)
                    try call.optionalInteger(0, passwordBytes.map { Int64($0) })
                }
            case .delete(let query, let atOnce):
                try fields.tagged(3) { call in
                    try call.value(query)
                    if atOnce { call.tagged(0) { _ in } }
                }
            case .rewrap: fields.tagged(4) { _ in }
            case .discard: fields.tagged(5) { _ in }
            case .permissions: fields.tagged(6) { _ in }
            case .permit(let change): try fields.tagged(7) { try $0.value(change) }
            case .move(let owner): try fields.tagged(8) { try $0.text(owner) }
            case .examine: fields.tagged(9) { _ in }
            case .restore(let date): try fields.tagged(10) { try $0.optionalInteger(0, date) }
            case .handOver: fields.tagged(11) { _ in }
            case .ownRights: fields.tagged(13) { _ in }
            case .history(let request, let passwordBytes):
                try fields.tagged(12) { call in
                    try call.value(request)
                    try call.optionalInteger(0, passwordBytes.map { Int64($0) })
                }
            case .transfer(let query, let attributes, let keepsOriginal):
                try fields.tagged(16) { call in
                    try call.value(query)
                    try call.value(attributes)
                    try call.boolean(keepsOriginal)
                }
            }
        }
    }
}
