import VaubanAccessPolicy
import VaubanSecretBytes

/// The password export that a browser writes, or Apple's Passwords: a header that names the columns, then one line a password. The whole file
/// lies in zeroised memory; only the line at hand is text, and that text is freed, not erased.
struct PasswordExport: ~Copyable {
    private let content: SecretBytes
    private let columns: PasswordColumns
    let records: ArraySlice<CSVRecord>

    static let bytesMax = 256 << 20

    static func read(_ content: consuming SecretBytes) throws(Refusal) -> PasswordExport {
        let all = content.withUnsafeBytes { CSVRecords.find(in: $0) }
        guard let first = all.first else { throw Refusal(.badParameter, "the file is empty") }
        let header = first.fault == nil ? content.withUnsafeBytes { Self.fields(first, in: $0) } : nil
        guard let header else { throw Refusal(.badParameter, "line \(first.line), which must name the columns, cannot be read") }
        return PasswordExport(content, try PasswordColumns(header: header), all.dropFirst())
    }

    private init(_ content: consuming SecretBytes, _ columns: PasswordColumns, _ records: ArraySlice<CSVRecord>) {
        self.content = content
        self.columns = columns
        self.records = records
    }

    /// One line of the file, or why it cannot be taken.
    func row(_ record: CSVRecord) throws(RowFault) -> PasswordRow {
        if let fault = record.fault { throw RowFault(fault) }
        guard let fields = content.withUnsafeBytes({ Self.fields(record, in: $0) }) else {
            throw RowFault("its quotes are not in order")
        }
        return try PasswordRow(fields, columns)
    }

    private static func fields(_ record: CSVRecord, in bytes: UnsafeRawBufferPointer) -> [ByteText]? {
        CSVRecords.fields(of: UnsafeRawBufferPointer(rebasing: bytes[record.range]))
    }
}

/// Which column is which, by the names in the header.
struct PasswordColumns {
    let count: Int
    let url: Int
    let username: Int
    let password: Int
    /// "name" in Chrome's export, "title" in Apple's; Firefox has none.
    let name: Int?
    /// "note" in Chrome's export, "notes" in Apple's.
    let note: Int?
    /// Of Firefox's: what a server calls the part that it asks a password for.
    let realm: Int?
    /// Of Apple's: the address from which codes for a second step are made, which is a secret of its own.
    let codes: Int?

    init(header: [ByteText]) throws(Refusal) {
        let names = header.map { ($0.text ?? "").lowercased().trimmed }
        func column(_ name: String) throws(Refusal) -> Int {
            guard let index = names.firstIndex(of: name) else {
                throw Refusal(
                    .badParameter,
                    "the first line must name the columns url, username and password, as the exports of Chrome, Firefox and Apple's Passwords do; there is no \"\(name)\""
                )
            }
            return index
        }
        count = header.count
        url = try column("url")
        username = try column("username")
        password = try column("password")
        name = names.firstIndex { ["name", "title"].contains($0) }
        note = names.firstIndex { ["note", "notes"].contains($0) }
        realm = names.firstIndex(of: "httprealm")
        codes = names.firstIndex(of: "otpauth")
    }
}

extension String {
    fileprivate var trimmed: String { String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()) }
}
