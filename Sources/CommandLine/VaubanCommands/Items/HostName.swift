import Foundation

/// The name of a host, which is case-insensitive (RFC 4343).
package enum HostName {
    /// Returns the stored form of a host name: its ASCII letters in lower case.
    package static func kept(_ name: String) -> String {
        String(decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Returns the forms under which a host may be stored: in lower case, as it was written, and in Punycode.
    static func forms(of name: String) -> [String] {
        var forms = [kept(name)]
        if name != forms[0] { forms.append(name) }
        if !name.utf8.allSatisfy({ $0 < 0x80 }), let ascii = URLComponents(string: "https://\(name)/").flatMap(inASCII) {
            forms.append(kept(ascii))
        }
        return forms
    }

    /// Returns the host of a URL in ASCII, as browsers have it: internationalized labels in Punycode (`xn--`), however the URL writes
    /// them. Returns nil if it has no host.
    static func inASCII(_ parts: URLComponents) -> String? {
        guard let host = parts.host, !host.isEmpty else { return nil }
        return host.utf8.allSatisfy { $0 < 0x80 } ? host : parts.encodedHost ?? host
    }
}
