import Foundation
import VaubanKeychainModel
import VaubanSecretBytes

/// Why one line was not taken. The text names columns, never a password.
struct RowFault: Error {
    let why: String
    init(_ why: String) { self.why = why }
}

/// One password of the export: the item, and apart from it the secret.
struct PasswordRow: ~Copyable {
    let record: ItemRecord
    /// Nil where the line has only codes.
    let password: SecretBytes?
    /// The item of its own that the address of codes becomes.
    let codesRecord: ItemRecord
    let codes: SecretBytes?

    init(_ fields: [ByteText], _ columns: PasswordColumns) throws(RowFault) {
        guard fields.count == columns.count else { throw RowFault("it has \(fields.count) fields, not \(columns.count)") }
        func text(_ index: Int, _ column: String) throws(RowFault) -> String {
            guard let text = fields[index].text else { throw RowFault("its \(column) is not UTF-8") }
            return text
        }
        let url = try text(columns.url, "url")
        if url.isEmpty { throw RowFault("it has no url") }
        var attributes = try Self.place(url)
        attributes[.account] = .text(try text(columns.username, "username"))
        attributes[.label] = .text(try columns.name.map { index throws(RowFault) in try text(index, "name") } ?? "")
        if case .text("") = attributes[.label] { attributes[.label] = attributes[.server] }
        if let note = columns.note, !fields[note].isEmpty { attributes[.comment] = .text(try text(note, "note")) }
        if let realm = columns.realm, !fields[realm].isEmpty { attributes[.securityDomain] = .text(try text(realm, "httpRealm")) }
        let hasCodes = columns.codes.map { !fields[$0].isEmpty } ?? false
        if fields[columns.password].isEmpty, !hasCodes { throw RowFault("it has no password") }
        record = ItemRecord(kind: .internetPassword, attributes: attributes)
        codesRecord = Self.codesRecord(of: record)
        if fields[columns.password].isEmpty { password = nil } else { password = fields[columns.password].secret }
        if hasCodes, let index = columns.codes { codes = fields[index].secret } else { codes = nil }
    }

    /// `otpauth:SERVER` with the account: named apart from the password, so that one word means one of the two.
    private static func codesRecord(of record: ItemRecord) -> ItemRecord {
        let port = record.number(.port)
        return ItemRecord(
            kind: .genericPassword,
            attributes: ItemAttributes([
                .service: .text("otpauth:\(record.text(.server))\(port == 0 ? "" : ":\(port)")"), .account: .text(record.text(.account)),
                .label: record.attributes[.label] ?? .text(""), .description: .text("one-time codes"),
            ]))
    }

    /// Server, protocol, port and path of a URL. All but the protocol are always said, so that the item can be meant
    /// exactly later.
    private static func place(_ url: String) throws(RowFault) -> ItemAttributes {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty else {
            throw RowFault("its url names no server")
        }
        var attributes = ItemAttributes([
            .server: .text(host), .port: .number(Int64(parts.port ?? 0)), .path: .text(parts.percentEncodedPath),
        ])
        if let code = parts.scheme.flatMap(ProtocolCode.known) { attributes[.protocolName] = .text(code) }
        return attributes
    }
}
