/// The address of one node: `https://HOST:PORT`, or `http://` with an address of this machine that needs no name server.
package struct EtcdEndpoint: Hashable, Sendable, CustomStringConvertible {
    package let isSecure: Bool
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    package let host: String
    package let port: Int

    package var description: String { "\(isSecure ? "https" : "http")://\(host):\(port)" }

    /// - Throws: `EtcdError` with the reason if the text is invalid.
    package init(_ text: String) throws(EtcdError) {
        let scheme = ["https://", "http://"].first { text.hasPrefix($0) }
        guard let scheme else { throw .account("\"\(text)\" is not an endpoint; write https://HOST:2379") }
        let rest = text.dropFirst(scheme.count)
        guard let colon = rest.lastIndex(of: ":"), let port = Int(rest[rest.index(after: colon)...]), (1...65535).contains(port),
            String(port) == rest[rest.index(after: colon)...], Self.isHost(rest[..<colon])
        else { throw .account("\"\(text)\" is not an endpoint; write https://HOST:2379") }
        isSecure = scheme == "https://"
        host = String(rest[..<colon])
        self.port = port
        guard isSecure || ["127.0.0.1", "[::1]"].contains(host) else {
            throw .account("\(text) is not encrypted; write https://. Only 127.0.0.1 and [::1] may have http://")
        }
    }

    private static func isHost(_ text: Substring) -> Bool {
        if text.hasPrefix("["), text.hasSuffix("]") {
            return text.dropFirst().dropLast().utf8.allSatisfy { "0123456789abcdefABCDEF:.".utf8.contains($0) } && text.contains(":")
        }
        return (1...253).contains(text.utf8.count) && text.first != "-"
            && text.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-".utf8.contains($0) }
    }
}
