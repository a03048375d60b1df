/// The name of a host, in which capitals make no difference (RFC 4343).
package enum HostName {
    /// As it is kept from here: in small letters, as far as it is ASCII.
    package static func kept(_ name: String) -> String {
        String(decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
