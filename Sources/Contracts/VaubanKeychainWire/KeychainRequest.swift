// The requests to keychaind (Specs/keychain-wire.md).

package import VaubanAccessPolicy
package import VaubanDER
package import VaubanKeychainModel
internal import VaubanRefusal

/// A request to the keychain. A value to store is the message's secret section; `passwordBytes` is the number of the section's last bytes
/// that are the application password, for items that need one.
package enum KeychainRequest: Hashable, Sendable {
    /// `hasData` distinguishes an empty value from no value. `applications` may read the item besides its owner (`kSecAttrAccess`).
    case add(ItemRecord, returns: ReturnKinds, hasData: Bool, passwordBytes: Int? = nil, applications: [String] = [])
    case copyMatching(ItemQuery, passwordBytes: Int? = nil)
    case update(ItemQuery, ItemChanges, passwordBytes: Int? = nil)
    /// A deleted item can be restored for a while, unless `atOnce`.
    case delete(ItemQuery, atOnce: Bool = false)
    /// Rewraps a batch of this user's rows with the current keys of their classes.
    case rewrap
    /// Removes rows that no key can decrypt any longer: those of a destroyed class key, or all after an erasure.
    case discard
    /// Lists the stored permissions.
    case permissions
    /// Adds or removes a permission, with the user's consent.
    case permit(PermissionChange)
    /// Moves a batch of the items without an owner (`unsigned`) to an owner. The first batch prompts the user; the request is repeated
    /// until none are left.
    case move(to: String)
    /// Changes the attributes of the one matching item, its owner among them, or makes a copy with the changes. Prompts the user for a
    /// change of owner, or a copy of another owner's item.
    case transfer(ItemQuery, ItemAttributes, keepsOriginal: Bool)
    /// Examines every row of the user and the database file, repairs what it can, and reports numbers.
    case examine
    /// Replaces a damaged database by its verified copy of this date; without a date, returns which copy exists.
    case restore(copyOf: Int64?)
    /// Hands the connection over to the enclave, for uses of private keys, which no room relays.
    case handOver
    /// Reads or changes the history.
    case history(HistoryRequest, passwordBytes: Int? = nil)
    /// Copies rows into a backup, or restores them. The password is the backup's passphrase.
    case backup(BackupRequest, passwordBytes: Int? = nil)
    /// Synchronizes items with the user's other devices.
    case sync(SyncRequest)
    /// Returns records of the access log, the newest first.
    case accessLog(AccessLogQuery)
    /// Returns the last uses of an item, by its identity.
    case lastUses(of: [UInt8])
    /// Returns the end of the access log as the enclave signs it, or cosigns another device's.
    case logHead(LogHeadQuery)
    /// Marks canary items, lists them, or reports their uses.
    case canary(CanaryRequest)
    /// Returns the caller's application identifier and its own access groups.
    case ownRights
    /// Saves, deletes or picks one of the user's passwords for a website of the caller's. The value is the password to save.
    case sharedPassword(SharedPasswordRequest)

    package static let applicationsMax = 64
    package static let passwordBytesMax = 1024
}

extension KeychainRequest {
    /// The authorization of the caller's context, if the request has one.
    package var authorization: [UInt8]? {
        switch self {
        case .copyMatching(let query, _), .update(let query, _, _), .delete(let query, _), .transfer(let query, _, _),
            .canary(.mark(let query, _)):
            query.authorization
        default: nil
        }
    }
}

/// Progress of rewrapping rows with the current keys, after one batch.
package struct RewrapProgress: Hashable, Sendable {
    /// Rows that this batch rewrapped.
    package var done: Int
    /// Rows left for further batches; 0 when done.
    package var left: Int
    /// The rows that stay unchanged for now: those of a locked class, in quarantine, or of an older format whose rewrapping needs the user.
    /// Rows that the batch did not reach are not counted.
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

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(Int64(done))
            try fields.integer(Int64(left))
            try fields.integer(Int64(kept))
        }
    }
}

/// The changes of an update. Absent fields stay.
package struct ItemChanges: Hashable, Sendable {
    package var attributes: ItemAttributes
    package var protection: ProtectionClass?
    package var accessControl: AccessControl?
    package var hasData: Bool

    package init(attributes: ItemAttributes, protection: ProtectionClass? = nil, accessControl: AccessControl? = nil, hasData: Bool = false)
    {
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
        var protection: ProtectionClass?
        if let number = try fields.optionalInteger(0, "protection", in: 1...64) {
            guard let known = ProtectionClass(number: number) else { throw DERError("protection is unknown") }
            protection = known
        }
        let control = try fields.optional(1, "access control") { try $0.value("access control", as: AccessControl.self) }
        self.init(attributes: attributes, protection: protection, accessControl: control, hasData: hasData)
    }

    package func write(into der: inout DERWriter) throws {
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
///   history [12], ownRights [13], transfer [16], sync [17], accessLog [18], backup [20], sharedPassword [24],
///   canary [27], lastUses [28], logHead [29] } }`
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
            case 17: return .sync(try call.value("sync"))
            case 18: return .accessLog(try call.value("query"))
            case 24: return .sharedPassword(try call.value("shared password"))
            case 27: return .canary(try call.value("canary"))
            case 28: return .lastUses(of: try call.octets("item", in: 16...16))
            case 29: return .logHead(try call.value("query"))
            case 20: return .backup(try call.value("backup"), passwordBytes: try Self.passwordBytes(&call))
            default: throw Refusal(.unknownRequest, "keychain request \(number) is not known to version \(Self.version)")
            }
        }
        guard let call else { throw DERError("call is missing") }
        self = call
    }

    private static func passwordBytes(_ call: inout DERFields) throws -> Int? {
        try call.optionalInteger(0, "password bytes", in: 1...Int64(passwordBytesMax)).map { Int($0) }
    }

    package func write(into der: inout DERWriter) throws {
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
            case .accessLog(let query): try fields.tagged(18) { try $0.value(query) }
            case .sharedPassword(let request): try fields.tagged(24) { try $0.value(request) }
            case .canary(let request): try fields.tagged(27) { try $0.value(request) }
            case .lastUses(let item): try fields.tagged(28) { try $0.octets(item) }
            case .logHead(let query): try fields.tagged(29) { try $0.value(query) }
            case .history(let request, let passwordBytes):
                try fields.tagged(12) { call in
                    try call.value(request)
                    try call.optionalInteger(0, passwordBytes.map { Int64($0) })
                }
            case .sync(let request): try fields.tagged(17) { try $0.value(request) }
            case .backup(let request, let passwordBytes):
                try fields.tagged(20) { call in
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
