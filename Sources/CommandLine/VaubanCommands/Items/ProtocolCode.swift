/// Apple's four-letter codes of protocols (`kSecAttrProtocol…`), by URL scheme.
package enum ProtocolCode {
    private static let codes = [
        "https": "htps", "http": "http", "ftp": "ftp ", "ftps": "ftps", "imap": "imap", "imaps": "imps", "smtp": "smtp",
        "pop3": "pop3", "pop3s": "pops", "ldap": "ldap", "ldaps": "ldps", "ssh": "ssh ", "smb": "smb ", "telnet": "teln",
        "telnets": "tels", "nntp": "nntp", "irc": "irc ", "ircs": "ircs", "rtsp": "rtsp", "socks": "sox ", "afp": "afp ",
    ]
    private static let schemes = Dictionary(uniqueKeysWithValues: codes.map { ($1, $0) })

    /// Returns the code of a scheme, if it has one.
    package static func known(_ scheme: String) -> String? { codes[scheme.lowercased()] }

    /// Returns the code for a scheme, or returns a code unchanged.
    package static func code(for word: String) -> String {
        known(word) ?? (word.utf8.count < 4 ? word + String(repeating: " ", count: 4 - word.utf8.count) : word)
    }

    /// Returns the name of a code for display.
    package static func name(of code: String) -> String { schemes[code] ?? code }
}
