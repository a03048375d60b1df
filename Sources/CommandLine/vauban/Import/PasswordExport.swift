import Glibc
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanSecretBytes

/// The password export that Chrome writes: a header that names the columns, then one line a password. The whole file
/// lies in zeroised memory; only the line at hand is text, and that text is freed, not erased.
struct PasswordExport: ~Copyable {
    private let content: SecretBytes
    private let columns: PasswordColumns
    let records: ArraySlice<CSVRecord>

    static let bytesMax = 256 << 20

    static func read(path: String) throws(Refusal) -> PasswordExport {
        let content = try file(path)
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

    private static func file(_ path: String) throws(Refusal) -> SecretBytes {
        let number = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else {
            throw Refusal(.badParameter, SystemFault("open \(SafeText.visible(path))", code: errno).description)
        }
        let file = Descriptor(number)
        do { return try SecretReader.everything(from: file.number, max: bytesMax, keepsNewline: true) } catch {
            let refusal = error as? Refusal
            if refusal?.reason == .dataTooLarge { throw Refusal(.badParameter, "the file is larger than \(bytesMax >> 20) MiB") }
            throw Refusal(.badParameter, refusal?.detail ?? "the file cannot be read")
        }
    }
}

/// Which column is which, by the names in the header.
struct PasswordColumns {
    let count: Int
    let url: Int
    let username: Int
    let password: Int
    let name: Int?
    let note: Int?

    init(header: [ByteText]) throws(Refusal) {
        let names = header.map { ($0.text ?? "").lowercased().trimmed }
        func column(_ name: String) throws(Refusal) -> Int {
            guard let index = names.firstIndex(of: name) else {
                throw Refusal(.badParameter, "the first line must name the columns url, username and password, as Chrome's export does; there is no \"\(name)\"")
            }
            return index
        }
        count = header.count
        url = try column("url")
        username = try column("username")
        password = try column("password")
        name = names.firstIndex(of: "name")
        note = names.firstIndex(of: "note")
    }
}

extension String {
    fileprivate var trimmed: String { String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()) }
}
