import Glibc
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanRefusal
import VaubanSecretBytes

/// What git says of a credential on standard input (gitcredentials(7)): lines of `key=value`, to an empty line or the end. Keys
/// that are not listed here are passed over, as the protocol wants.
struct GitCredentialRequest: ~Copyable {
    let place: GitPlace?
    let account: String?
    let password: SecretBytes?

    private static let bytesMax = 1 << 17
    private static let keys: Set<String> = ["protocol", "host", "path", "username"]

    /// The password goes from the kernel to its own place in zeroing memory, and never through text.
    static func read(from descriptor: Int32) throws -> GitCredentialRequest {
        try GitCredentialRequest(try SecretReader.everything(from: descriptor, max: bytesMax, keepsNewline: true))
    }

    private init(_ input: borrowing SecretBytes) throws(Refusal) {
        var values: [String: String] = [:]
        var secret: Range<Int>?
        for line in input.withUnsafeBytes({ Self.lines($0) }) {
            let sign = input.withUnsafeBytes { $0[line].firstIndex(of: UInt8(ascii: "=")) }
            guard let sign else { throw Refusal(.badParameter, "a line from git is not key=value") }
            let key = input.withUnsafeBytes { String(validating: $0[line.lowerBound..<sign], as: UTF8.self) } ?? ""
            let value = sign + 1..<line.upperBound
            if key == "password" { secret = value }
            guard Self.keys.contains(key) else { continue }
            let text = input.withUnsafeBytes { String(validating: $0[value], as: UTF8.self) }
            guard let text, !text.utf8.contains(0) else { throw Refusal(.badParameter, "the \(key) from git is not text") }
            values[key] = text
        }
        place = GitPlace(scheme: values["protocol"] ?? "", host: values["host"] ?? "", path: values["path"] ?? "")
        account = values["username"]
        if let secret { password = input.part(secret) } else { password = nil }
    }

    /// The lines before the first empty one, without their ends.
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

/// Where a credential is for: what a password of a server is found by, apart from its account.
struct GitPlace: Hashable {
    let scheme: String
    let server: String
    let port: Int64
    /// Empty where git sends none, which is what it does for https unless `credential.useHttpPath` is set.
    let path: String

    /// Nil without a protocol or a host: there is no item for that.
    init?(scheme: String, host: String, path: String) {
        guard !scheme.isEmpty, !host.isEmpty else { return nil }
        self.scheme = scheme
        self.path = path
        // An IPv6 address has colons of its own, within brackets.
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

    /// As git writes it.
    var shown: String { SafeText.line("\(scheme)://\(server)\(port == 0 ? "" : ":\(port)")\(path.isEmpty ? "" : "/\(path)")", max: 150) }

    /// The attributes that a query can say. All of them are in the user's own group: git never gets what a program keeps.
    var attributes: ItemAttributes {
        ItemAttributes([
            .server: .text(server), .protocolName: .text(ProtocolCode.code(for: scheme)), .accessGroup: .text(AccessGroup.commandLine),
        ])
    }

    /// Whether an item that was found by these attributes is for this place; one without a path may say so as `/`.
    func means(_ record: ItemRecord) -> Bool {
        let its = record.text(.path)
        return record.number(.port) == port && (path.isEmpty ? ["", "/"].contains(its) : [path, "/" + path].contains(its))
    }
}
