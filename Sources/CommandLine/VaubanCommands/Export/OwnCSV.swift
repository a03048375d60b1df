import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// The columns of `vauban export --csv` (Specs/export.md): first those that other programs know, then those that restore an item
/// completely.
enum OwnCSVColumns {
    static let version = "1"
    static let versionName = "vauban"
    /// The attributes that have a different column name among the first columns.
    static let attributes: [(column: String, name: AttributeName)] = [
        ("name", .label), ("username", .account), ("note", .comment), ("service", .service), ("server", .server),
        ("protocol", .protocolName), ("port", .port), ("path", .path), ("securityDomain", .securityDomain),
        ("authenticationType", .authenticationType), ("description", .description), ("generic", .generic), ("alias", .alias),
        ("creator", .creator), ("type", .type), ("isInvisible", .isInvisible), ("isNegative", .isNegative),
        ("synchronizable", .synchronizable), ("syncViewHint", .syncViewHint), ("tokenID", .tokenID),
    ]
    static let all =
        ["name", "url", "username", "password", "note", "otpauth", versionName, "class"]
        + attributes.dropFirst(3).map(\.column) + ["readable", "accessControl", "base64"]
    static let base64 = "base64"
}

/// A file of `vauban export --csv` that is being read.
struct OwnCSV: ~Copyable {
    private let content: SecretBytes
    private let columns: [String]
    let records: ArraySlice<CSVRecord>

    static func isOne(_ content: borrowing SecretBytes) throws(Refusal) -> Bool {
        try CSVExport.header(of: content).1.contains(OwnCSVColumns.versionName)
    }

    init(_ content: consuming SecretBytes) throws(Refusal) {
        let (all, header) = try CSVExport.header(of: content)
        if let strange = header.first(where: { !OwnCSVColumns.all.contains($0) }) {
            throw Refusal(
                .badParameter, "Unknown column \"\(SafeText.line(strange, max: 60))\"; a newer version of vauban may know it")
        }
        guard Set(header).count == header.count else { throw Refusal(.badParameter, "The first line names a column twice") }
        for name in ["password", "class"] where !header.contains(name) {
            throw Refusal(.badParameter, "The first line lacks the column \"\(name)\"")
        }
        self.content = content
        columns = header
        records = all.dropFirst()
    }

    /// Returns the item of a record, and its one-time codes if the record contains them.
    borrowing func items(_ record: CSVRecord) throws(SkipReason) -> [PlannedItem] {
        let columns = columns
        return try content.withUnsafeBytes { bytes throws(SkipReason) in
            try Self.items(OwnCSVRecord(CSVExport.fields(record, count: columns.count, in: bytes), columns: columns, bytes: bytes))
        }
    }

    private static func items(_ row: OwnCSVRecord) throws(SkipReason) -> [PlannedItem] {
        guard try row.text(OwnCSVColumns.versionName) == OwnCSVColumns.version else {
            throw SkipReason("it has a version that this vauban cannot read")
        }
        let kind: ItemKind
        switch try row.text("class") {
        case "generic password": kind = .genericPassword
        case "internet password": kind = .internetPassword
        default: throw SkipReason("its class must be generic password or internet password")
        }
        var record = ItemRecord(kind: kind, attributes: ItemAttributes())
        for (column, name) in OwnCSVColumns.attributes {
            guard let value = try row.value(column, name) else { continue }
            guard let rule = AttributeRule.rule(for: name, of: kind), let fitting = value.converted(to: rule.form) else {
                throw SkipReason("its \(column) is not valid")
            }
            record.attributes[name] = fitting
        }
        let isNamed = record.attributes[kind == .genericPassword ? .service : .server] != nil
        guard isNamed else { throw SkipReason("it has no \(kind == .genericPassword ? "service" : "server")") }
        let (protection, control) = try protection(row)
        record = ItemRecord(kind: kind, attributes: ItemDocument.named(record), protection: protection, accessControl: control)
        guard let password = try row.secret("password") else { throw SkipReason("it has no password") }
        var items = [PlannedItem(role: .login, record: record, secret: password)]
        if let codes = try row.secret("otpauth"), !codes.secret.isEmpty {
            items.append(PlannedItem(role: .codes, record: record.codesCompanion, secret: codes))
        }
        return items
    }

    private static func protection(_ row: OwnCSVRecord) throws(SkipReason) -> (ProtectionClass, AccessControl?) {
        let shown = try row.text("readable")
        guard let protection = shown.isEmpty ? .whenUnlocked : ProtectionClass.allCases.first(where: { $0.shownName == shown }) else {
            throw SkipReason("its readable is not a known protection")
        }
        let names = try row.text("accessControl").split(separator: " ").map(String.init)
        guard !names.isEmpty else { return (protection, nil) }
        var flags: AccessControlFlags = []
        for name in names {
            guard let flag = AccessControl.flag(named: name) else { throw SkipReason("its accessControl has an unknown flag") }
            flags.insert(flag)
        }
        do throws(AccessControlError) { return (protection, try AccessControl(protection: protection, flags: flags)) } catch {
            throw SkipReason("its accessControl: \(error.rawValue)")
        }
    }
}

/// One record by column names; a missing column is empty.
private struct OwnCSVRecord {
    private let fields: [String: CSVField]
    private let bytes: UnsafeRawBufferPointer
    private let encoded: Set<String>

    init(_ fields: [CSVField], columns: [String], bytes: UnsafeRawBufferPointer) {
        self.fields = Dictionary(zip(columns, fields)) { first, _ in first }
        self.bytes = bytes
        let names = self.fields[OwnCSVColumns.base64]?.text(in: bytes) ?? ""
        encoded = Set(names.split(separator: " ").map(String.init))
    }

    func text(_ column: String) throws(SkipReason) -> String {
        guard let field = fields[column] else { return "" }
        guard let text = field.text(in: bytes) else { throw SkipReason("its \(column) is not UTF-8") }
        return text
    }

    func secret(_ column: String) throws(SkipReason) -> SecretBox? {
        guard let field = fields[column] else { return nil }
        let secret = field.secret(in: bytes)
        guard encoded.contains(column) else { return SecretBox(secret) }
        guard let decoded = SecretBase64.bytes(of: secret) else { throw SkipReason("its \(column) is not base64") }
        return SecretBox(decoded)
    }

    /// Returns an attribute's value, or nil if the cell is empty, which means that the attribute is missing.
    func value(_ column: String, _ name: AttributeName) throws(SkipReason) -> AttributeValue? {
        guard let field = fields[column], !field.isEmpty else { return nil }
        if encoded.contains(column) { return try secret(column).map { .data($0.secret.withUnsafeBytes { Array($0) }) } }
        let text = try text(column)
        return .text(name == .protocolName ? ProtocolCode.code(for: text) : text)
    }
}

extension ItemRecord {
    /// The name that an import gives the one-time codes of this item.
    var codesCompanion: ItemRecord {
        ImportPlan.attachedItem(of: self, named: ImportPlan.codesPrefix + loginName, ImportPlan.codesDescription)
    }
}
