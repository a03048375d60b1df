import Glibc
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanRefusal
import VaubanSecretBytes

/// Git's description of a credential on standard input (gitcredentials(7)): lines of `key=value`, up to an empty line or the end. Keys that
/// are not listed here are ignored, as the protocol requires.
struct GitCredentialRequest: ~Copyable {
    let place: GitPlace?
    let account: String?
    let password: SecretBytes?

    private static let bytesMax = 1 << 17
    private static let keys: Set<String> = ["protocol", "host", "path", "username"]

    /// Reads the request. The password goes from the kernel into its own zeroing memory and never becomes a `String`.
    static func read(from descriptor: Int32) throws -> GitCredentialRequest {
        try GitCredentialRequest(try SecretReader.everything(from: descriptor, max: bytesMax, keepsNewline: true))
    }

    private init(_ input: borrowing SecretBytes) throws(Refusal) {
        var values: [String: String] = [:]
        var secret: Range<Int>?
        for line in input.withUnsafeBytes({ Self.lines($0) }) {
            let sign = input.withUnsafeBytes { $0[line].firstIndex(of: UInt8(ascii: "=")) }
            guard let sign else { throw Refusal(.badParameter, "A line from git is not key=value") }
            let key = input.withUnsafeBytes { String(validating: $0[line.lowerBound..<sign], as: UTF8.self) } ?? ""
            let value = sign + 1..<line.upperBound
            if key == "password" { secret = value }
            guard Self.keys.contains(key) else { continue }
            let text = input.withUnsafeBytes { String(validating: $0[value], as: UTF8.self) }
            guard let text, !text.utf8.contains(0) else { throw Refusal(.badParameter, "The \(key) from git is not text") }
            values[key] = text
        }
        place = GitPlace(scheme: values["protocol"] ?? "", host: values["host"] ?? "", path: values["path"] ?? "")
        account = values["username"]
        if let secret { password = input.part(secret) } else { password = nil }
    }

    /// Returns the ranges of the lines before the first empty one, without their line ends.
    private static func lines(_ bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
        var lines: [Range<Int>] = []
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
            if end == start { break }
            lines.append(start..<end)
            start = end + 1
        }
        return lines
    }
}

/// The place that a credential is for: the attributes that find a server's password, except the account.
struct GitPlace: Hashable {
    let scheme: String
    let server: String
    let port: Int64
    /// The path; empty if git sends none, which is the case for https unless `credential.useHttpPath` is set.
    let path: String

    /// Returns nil without a protocol or a host: no item could match.
    init?(scheme: String, host: String, path: String) {
        guard !scheme.isEmpty, !host.isEmpty else { return nil }
        self.scheme = scheme
        self.path = path
        // An IPv6 address contains colons within its brackets.
        if let colon = host.lastIndex(of: ":"), !host[colon...].contains("]"), let port = Int64(host[host.index(after: colon)...]),
            (1...65535).contains(port)
        {
            server = HostName.kept(String(host[..<colon]))
            self.port = port
        } else {
            server = HostName.kept(host)
            port = 0
        }
        guard !server.isEmpty else { return nil }
    }

    /// The place in git's notation.
    var shown: String { SafeText.line("\(scheme)://\(server)\(port == 0 ? "" : ":\(port)")\(path.isEmpty ? "" : "/\(path)")", max: 150) }

    /// The attributes for a query, all in the user's own access group: git never receives items that belong to a program.
    var attributes: ItemAttributes {
        ItemAttributes([
            .server: .text(server), .protocolName: .text(ProtocolCode.code(for: scheme)), .accessGroup: .text(AccessGroup.commandLine),
        ])
    }

    /// Returns whether an item that these attributes found is for this place. An item without a path may have the path `/`.
    func means(_ record: ItemRecord) -> Bool {
        let its = record.text(.path)
        return record.number(.port) == port && (path.isEmpty ? ["", "/"].contains(its) : [path, "/" + path].contains(its))
    }
}
