import Foundation
package import VaubanRefusal
package import VaubanSecretBytes
import VaubanSecretText

/// A CSV export of a browser or a password manager: a header that names the columns, then one record per login. The file is in zeroing
/// memory.
package struct CSVExport: ~Copyable {
    private let content: SecretBytes
    private let columns: CSVColumns
    package let records: ArraySlice<CSVRecord>

    package init(_ content: consuming SecretBytes) throws(Refusal) {
        let (all, header) = try Self.header(of: content)
        columns = try CSVColumns(header: header)
        records = all.dropFirst()
        self.content = content
    }

    package static func header(of content: borrowing SecretBytes) throws(Refusal) -> ([CSVRecord], [String]) {
        let all = content.withUnsafeBytes { CSVRecords.find(in: $0) }
        guard let first = all.first else { throw Refusal(.badParameter, "The file is empty") }
        let header = content.withUnsafeBytes { bytes in
            first.fault == nil ? CSVRecords.fields(of: first, in: bytes)?.map { $0.text(in: bytes) ?? "" } : nil
        }
        guard let header else { throw Refusal(.badParameter, "Line \(first.line), which must name the columns, cannot be read") }
        return (all, header)
    }

    /// Returns one record of the file; throws the reason if it cannot be imported.
    package borrowing func source(_ record: CSVRecord) throws(SkipReason) -> SourceRecord {
        let columns = columns
        return try content.withUnsafeBytes { bytes throws(SkipReason) in try Self.source(record, columns, in: bytes) }
    }

    package static func fields(_ record: CSVRecord, count: Int, in bytes: UnsafeRawBufferPointer) throws(SkipReason) -> [CSVField] {
        if let fault = record.fault { throw SkipReason(fault) }
        guard let fields = CSVRecords.fields(of: record, in: bytes) else { throw SkipReason("its quotes do not match") }
        guard fields.count == count else { throw SkipReason("it has \(fields.count) fields, not \(count)") }
        return fields
    }

    private static func source(_ record: CSVRecord, _ columns: CSVColumns, in bytes: UnsafeRawBufferPointer) throws(SkipReason)
        -> SourceRecord
    {
        let fields = try fields(record, count: columns.names.count, in: bytes)
        var source = SourceRecord(.line(record.line))
        for (index, field) in fields.enumerated() where !field.isEmpty {
            let name = columns.names[index].trimmed
            func text() throws(SkipReason) -> String {
                guard let text = field.text(in: bytes) else { throw notText(name) }
                return text
            }
            let value = SecretBox(field.secret(in: bytes))
            // In another encoding, the stored text would have other characters than the login.
            guard value.secret.isUTF8() else { throw notText(name) }
            if KeePassReference.isIn(value) { source.left.append("\(name): refers to another entry, which KeePass's XML would resolve") }
            // This value is a secret, whatever the column's name.
            if columns.roles[index] != .codes, CodeAddress.isAddress(value) { source.codes.append(value); continue }
            switch columns.roles[index] {
            case .title: source.title = try text()
            case .url: source.urls = urls(try text(), name)
            case .username: source.username = try text()
            case .password: source.password = value
            case .codes where source.codes.isEmpty: source.codes = [value]
            case .codes: if CodeAddress.isAddress(value) { source.codes.append(value) } else { source.add(name, value, as: .hidden) }
            case .hidden: source.add(name, value, as: .hidden)
            case .notes: source.notes = value
            case .realm: source.realm = try text()
            case .group:
                source.group = try text()
                source.add(name, value, as: .about)
            case .kind: source.kind = try text().lowercased() == "login" ? nil : kind(try text())
            case .flag: if !["0", "false"].contains(try text().lowercased()) { source.add(name, value, as: .about) }
            case .date: source.add(name, text: date(try text()), .about)
            // 1Password separates tags by semicolons; a comma within one is not allowed in a tag here.
            case .tags: for tag in try text().split(whereSeparator: { $0 == ";" || $0 == "," }) { source.add(tag: String(tag).trimmed) }
            case .about: source.add(name, value, as: .about)
            case .content: source.add(name, value, as: .content)
            }
        }
        // LastPass stores secure notes under this address.
        if source.urls == ["http://sn"] {
            source.urls = []
            source.kind = "secure note"
        }
        return source
    }

    private static func notText(_ column: String) -> SkipReason {
        SkipReason("its \(SafeText.line(column, max: 60)) is not UTF-8; save the file as UTF-8")
    }

    /// Returns the addresses of a login, which Bitwarden stores in one field.
    private static func urls(_ text: String, _ column: String) -> [String] {
        guard column.lowercased() == "login_uri" else { return [text] }
        let parts = text.split(separator: ",").map(String.init)
        return parts.allSatisfy { SourceURL($0) != nil } ? parts : [text]
    }

    private static func kind(_ text: String) -> String { text.lowercased() == "note" ? "secure note" : SafeText.line(text, max: 60) }

    private static func date(_ milliseconds: String) -> String {
        guard let number = Int64(milliseconds), (0...4_102_444_800_000).contains(number) else { return milliseconds }
        return Date(timeIntervalSince1970: Double(number) / 1000).formatted(.iso8601)
    }
}
