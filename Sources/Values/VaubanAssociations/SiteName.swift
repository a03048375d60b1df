/// The name of a website as applications and the association service use it: a fully qualified host name, and a port if one is named.
///
/// A name is in lower case. It has at least two labels of ASCII letters, digits and hyphens; international names are in their ASCII form.
/// Addresses, and names that a local network assigns (`.local`, `.localhost`), are not sites, since no authority certifies them.
package struct SiteName: Hashable, Sendable {
    package static let hostBytesMax = 253

    package let host: String
    /// The named port; nil for none, and for 443.
    package let port: Int64?

    /// Parses `example.com` or `example.com:8443` in any case; returns nil if it is not the name of a site.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let host = Self.host(String(first)) else { return nil }
        self.host = host
        guard parts.count == 2 else {
            port = nil
            return
        }
        let digits = parts[1].utf8
        guard (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }), digits.first != 0x30,
            let number = Int64(parts[1]), number <= 65_535
        else { return nil }
        port = number == 443 ? nil : number
    }

    /// Returns the name in its usual notation.
    package var text: String { port.map { "\(host):\($0)" } ?? host }

    /// Returns a host name in lower case; nil if it is not a valid host of a site.
    package static func host(_ text: String) -> String? {
        guard (1...hostBytesMax).contains(text.utf8.count), text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let host = text.lowercased()
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, labels.allSatisfy(isLabel), let last = labels.last, last != "local", last != "localhost",
            last.utf8.contains(where: { (0x61...0x7A).contains($0) })
        else { return nil }
        return host
    }

    private static func isLabel(_ label: Substring) -> Bool {
        let bytes = label.utf8
        return (1...63).contains(bytes.count) && bytes.first != 0x2D && bytes.last != 0x2D
            && bytes.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}
