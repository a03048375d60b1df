/// The origin of a page as the browser states it: `https://` with a host and, unless it is 443, a port.
package struct WebOrigin: Hashable, Sendable {
    /// The host in lower-case ASCII; an IPv6 address in brackets.
    package let host: String
    package let port: Int64
    package static let portDefault: Int64 = 443

    /// Returns nil for any other scheme, and for text that a browser would not write as an origin.
    package init?(_ text: String) {
        let scheme = "https://"
        guard text.utf8.count <= BrowserLimits.originBytesMax, text.hasPrefix(scheme) else { return nil }
        let rest = text.dropFirst(scheme.count)
        let end = rest.hasPrefix("[") ? rest.firstIndex(of: "]").map { rest.index(after: $0) } : rest.firstIndex(of: ":") ?? rest.endIndex
        guard let end else { return nil }
        let name = rest[..<end]
        guard Self.isAddress6(name) || Self.isName(name) else { return nil }
        host = String(name)
        guard end < rest.endIndex else { port = Self.portDefault; return }
        let digits = rest[rest.index(after: end)...]
        guard rest[end] == ":", let number = Int64(digits), String(number) == digits, (1...65535).contains(number),
            number != Self.portDefault
        else { return nil }
        port = number
    }

    /// The host, with the port unless that is the default.
    package var words: String { port == Self.portDefault ? host : "\(host):\(port)" }

    /// Whether the host is an address, which belongs to no domain.
    package var isAddress: Bool {
        host.hasPrefix("[") || host.split(separator: ".").last.map { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } } ?? true
    }

    private static func isName(_ name: Substring) -> Bool {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return name.utf8.count <= 253
            && labels.allSatisfy { label in
                !label.isEmpty && label.utf8.count <= 63
                    && label.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x5F }
            }
    }

    private static func isAddress6(_ name: Substring) -> Bool {
        name.hasPrefix("[") && name.hasSuffix("]") && name.utf8.count > 3
            && name.dropFirst().dropLast().utf8.allSatisfy {
                (0x61...0x66).contains($0) || (0x30...0x39).contains($0) || $0 == 0x3A || $0 == 0x2E
            }
    }
}
