import VaubanKeychainModel
import VaubanSecretBytes
import VaubanSecretText

/// A writer of CSV with every secret in plain text (Specs/export.md). A login's one-time codes are in its own record, where other programs
/// expect them.
struct CSVWriter: ExportWriter {
    private let output: ExportOutput
    private var items: [(record: ItemRecord, secret: SecretBox)] = []

    init(_ output: ExportOutput) { self.output = output }

    mutating func write(_ record: ItemRecord, _ secret: borrowing SecretBytes) throws {
        items.append((record, SecretBox(secret.duplicate())))
    }

    mutating func finish() throws {
        try output.write(Array((OwnCSVColumns.all.joined(separator: ",") + "\r\n").utf8))
        var codes: [ItemRecord: Int] = [:]
        for (index, item) in items.enumerated() where item.record.text(.service).hasPrefix(ImportPlan.codesPrefix) {
            codes[item.record.bare] = index
        }
        // An item includes its codes if an import would recreate exactly the same ones.
        var taken: [Int: Int] = [:]
        for (index, item) in items.enumerated() {
            guard let companion = codes.removeValue(forKey: item.record.codesCompanion.bare), companion != index else { continue }
            taken[index] = companion
        }
        let folded = Set(taken.values)
        for (index, item) in items.enumerated() where !folded.contains(index) {
            try write(item.record, item.secret, codes: taken[index].map { items[$0].secret })
        }
        try output.finish()
    }

    private func write(_ record: ItemRecord, _ secret: SecretBox, codes: SecretBox?) throws {
        var cells: [String: SecretBox] = [:]
        var encoded: [String] = []
        func put(_ column: String, _ value: SecretBox) {
            cells[column] = value
            guard value.text == nil || value.secret.withUnsafeBytes({ $0.contains(0) }) else { return }
            cells[column] = SecretBox(SecretBase64.text(of: value.secret))
            encoded.append(column)
        }
        func put(_ column: String, text: String) { put(column, SecretBox(SecretBytes(copying: Array(text.utf8)))) }
        for (column, name) in OwnCSVColumns.attributes {
            switch record.attributes[name] {
            case .text(let text): put(column, text: name == .protocolName ? ProtocolCode.name(of: text) : text)
            case .data(let bytes): put(column, SecretBox(SecretBytes(copying: bytes)))
            case .number(let number): if number != 0 { put(column, text: String(number)) }
            case .date, nil: break
            }
        }
        put("url", text: Self.url(record))
        put("password", secret)
        if let codes { put("otpauth", codes) }
        put(OwnCSVColumns.versionName, text: OwnCSVColumns.version)
        put("class", text: record.kind == .genericPassword ? "generic password" : "internet password")
        put("readable", text: record.protection.shownName)
        if let control = record.accessControl { put("accessControl", text: control.flagNames.joined(separator: " ")) }
        if !encoded.isEmpty { put(OwnCSVColumns.base64, text: encoded.joined(separator: " ")) }
        let line = SecretBuilder()
        for (index, column) in OwnCSVColumns.all.enumerated() {
            if index > 0 { line.append(",") }
            guard let cell = cells[column], !cell.secret.isEmpty else { continue }
            line.append("\"")
            cell.secret.withUnsafeBytes { bytes in
                for byte in bytes {
                    if byte == 0x22 { line.append("\"") }
                    line.append(byte)
                }
            }
            line.append("\"")
        }
        line.append("\r\n")
        try output.write(line.kept.secret)
    }

    /// Returns the URL for other programs; separate columns preserve what restores the item.
    private static func url(_ record: ItemRecord) -> String {
        guard record.kind == .internetPassword else { return "" }
        let scheme = record.text(.protocolName).isEmpty ? "https" : ProtocolCode.name(of: record.text(.protocolName))
        let port = record.number(.port)
        return "\(scheme)://\(record.text(.server))\(port == 0 ? "" : ":\(port)")\(record.text(.path))"
    }
}

extension ItemRecord {
    /// The record without owner and dates, which an import does not set.
    fileprivate var bare: ItemRecord {
        var bare = self
        for name in [AttributeName.accessGroup, .creationDate, .modificationDate] { bare.attributes[name] = nil }
        for (name, value) in bare.attributes where value == .text("") || value == .number(0) { bare.attributes[name] = nil }
        return bare
    }
}
