// Backups on keychaind's socket (Specs/backup.md).

package import VaubanDER

/// A request about a backup, for the command line. One is open on a connection, from `begin` to the next or the end of the connection.
package enum BackupRequest: Hashable, Sendable {
    /// Opens a backup, or makes a new one if there is no keybag, for a recipient if there is one. The passphrase, or a restore key, is the
    /// request's password; without it the backup continues under the keys of this device.
    case begin(keybag: [UInt8]?, restores: Bool, recipient: [UInt8]? = nil, passwordIsRestoreKey: Bool = false)
    /// Lists the rows after a row number, as many as fit into a message.
    case list(after: Int64)
    /// Copies rows into the open backup, in this order, until about 4 MiB are sent.
    case copy([Int64])
    /// Restores an item from the open backup. The rest of its secret half is the value.
    case restore(BackupItem)
    /// Requests which of these items, none of them among the rows, were deleted.
    case deleted([[UInt8]])
    /// Requests the identity of the database, and the number of its last backup, or of the next.
    case run(isNext: Bool)

    package static let rowsMax = 1000
    package static let keybagBytesMax = 4096
    /// The size of a recipient's public key.
    package static let recipientBytes = 1216

    /// Returns the fingerprint of a recipient as users compare it: eight groups of four hexadecimal digits, the first half of its SHA-256.
    package static func fingerprint(ofDigest digest: [UInt8]) -> String {
        let digits = digest.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0..<min($0 + 2, digits.count)].joined() }.joined(separator: " ")
    }
}

/// `BackupRequest ::= CHOICE { begin [0], list [1], copy [2], restore [3], deleted [4], run [5] }`, in a separate
/// field.
extension BackupRequest: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        let number = try fields.choice("backup request")
        let request: BackupRequest? = try fields.optional(number, "backup request") { request in
            switch number {
            case 0:
                let keybag = try request.optionalOctets(0, "keybag", in: 1...Self.keybagBytesMax)
                let restores = try request.boolean("restores")
                let recipient = try request.optionalOctets(1, "recipient", in: Self.recipientBytes...Self.recipientBytes)
                let isRestoreKey = try request.optional(2, "restore key") { _ in true } ?? false
                return .begin(keybag: keybag, restores: restores, recipient: recipient, passwordIsRestoreKey: isRestoreKey)
            case 1: return .list(after: try request.integer("after", in: 0...Int64.max))
            case 2:
                var rows: [Int64] = []
                while !request.isEmpty {
                    guard rows.count < Self.rowsMax else { throw DERError("rows are too many") }
                    rows.append(try request.integer("row", in: 1...Int64.max))
                }
                return .copy(rows)
            case 3: return .restore(try request.value("item"))
            case 4: return .deleted(try request.backupItems())
            case 5: return .run(isNext: try request.boolean("next"))
            default: throw DERError("backup request is unknown")
            }
        }
        guard let request else { throw DERError("backup request is missing") }
        self = request
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            switch self {
            case .begin(let keybag, let restores, let recipient, let isRestoreKey):
                try fields.tagged(0) {
                    try $0.optionalOctets(0, keybag); try $0.boolean(restores)
                    try $0.optionalOctets(1, recipient)
                    if isRestoreKey { $0.tagged(2) { _ in } }
                }
            case .list(let row): try fields.tagged(1) { try $0.integer(row) }
            case .copy(let rows): try fields.tagged(2) { request in for row in rows { try request.integer(row) } }
            case .restore(let item): try fields.tagged(3) { try $0.value(item) }
            case .deleted(let items): try fields.tagged(4) { request in for item in items { try request.octets(item) } }
            case .run(let isNext): try fields.tagged(5) { try $0.boolean(isNext) }
            }
        }
    }
}

extension DERFields {
    /// Reads the identities of items to the end.
    mutating func backupItems() throws -> [[UInt8]] {
        var items: [[UInt8]] = []
        while !isEmpty {
            guard items.count < BackupRequest.rowsMax else { throw DERError("items are too many") }
            items.append(try octets("item", in: 16...16))
        }
        return items
    }
}

/// An item in a backup, except for most of its secret half (Specs/backup.md).
package struct BackupItem: Hashable, Sendable, DERReadable, DERWritable {
    /// A secret half of 1 MiB is a little longer than a message's secret section, so its beginning is in the header.
    package static let headBytes = 60

    package let binding: [UInt8]
    package let wrapped: [UInt8]
    package let attributes: [UInt8]
    package let head: [UInt8]

    package init(binding: [UInt8], wrapped: [UInt8], attributes: [UInt8], head: [UInt8]) {
        self.binding = binding
        self.wrapped = wrapped
        self.attributes = attributes
        self.head = head
    }

    package init(from fields: inout DERFields) throws {
        binding = try fields.octets("binding", in: 1...1024)
        wrapped = try fields.octets("wrapped key", in: 60...256)
        attributes = try fields.octets("attributes", in: 60...59_000)
        head = try fields.octets("head", in: Self.headBytes...Self.headBytes)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(binding)
            try fields.octets(wrapped)
            try fields.octets(attributes)
            try fields.octets(head)
        }
    }
}
