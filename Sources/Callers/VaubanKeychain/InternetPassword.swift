internal import Security

/// A password for an account on a server.
///
/// All parts identify the item: the password for port 8443 is not the password for no particular port. A part that is omitted means "none",
/// never "any". To match any value, search with ``InternetPassword/Query``.
public struct InternetPassword: PasswordName {
    /// The protocol that the password is used with, as Apple's four-letter code.
    public struct Scheme: RawRepresentable, Hashable, Sendable {
        /// Apple's four-letter code, such as "htps".
        public let rawValue: String

        /// Creates a protocol from one of Apple's `kSecAttrProtocol…` values, for those without a name here.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// HTTP.
        public static var http: Self { Self(rawValue: kSecAttrProtocolHTTP as String) }
        /// HTTP over TLS.
        public static var https: Self { Self(rawValue: kSecAttrProtocolHTTPS as String) }
        /// FTP.
        public static var ftp: Self { Self(rawValue: kSecAttrProtocolFTP as String) }
        /// SSH.
        public static var ssh: Self { Self(rawValue: kSecAttrProtocolSSH as String) }
        /// SMTP.
        public static var smtp: Self { Self(rawValue: kSecAttrProtocolSMTP as String) }
        /// IMAP.
        public static var imap: Self { Self(rawValue: kSecAttrProtocolIMAP as String) }
        /// IMAP over TLS.
        public static var imaps: Self { Self(rawValue: kSecAttrProtocolIMAPS as String) }
        /// SMB.
        public static var smb: Self { Self(rawValue: kSecAttrProtocolSMB as String) }
        /// LDAP over TLS.
        public static var ldaps: Self { Self(rawValue: kSecAttrProtocolLDAPS as String) }
    }

    /// The host name of the server.
    public var server: String
    /// The account on the server.
    public var account: String
    /// The protocol; nil for no particular one.
    public var scheme: Scheme?
    /// The port; nil for no particular one.
    public var port: UInt16?
    /// The path on the server; empty for no particular one.
    public var path: String
    /// The security domain, which is a realm in HTTP; empty for none.
    public var securityDomain: String

    /// Names an Internet password.
    public init(
        server: String, account: String, scheme: Scheme? = nil, port: UInt16? = nil, path: String = "", securityDomain: String = ""
    ) {
        self.server = server
        self.account = account
        self.scheme = scheme
        self.port = port
        self.path = path
        self.securityDomain = securityDomain
    }

    /// The name as keychain attributes: all parts are set, so that an omitted part does not match any value.
    public var fields: ItemFields {
        ItemFields(
            kSecClassInternetPassword,
            [
                kSecAttrServer as String: .text(server), kSecAttrAccount as String: .text(account),
                kSecAttrProtocol as String: scheme.map { .text($0.rawValue) } ?? .number(0),
                kSecAttrPort as String: .number(Int(port ?? 0)), kSecAttrPath as String: .text(path),
                kSecAttrSecurityDomain as String: .text(securityDomain), kSecAttrAuthenticationType as String: .text(""),
            ])
    }

    /// Creates the name of an item that a search found; nil if its parts are not text, or if it has an authentication type, which this type
    /// cannot represent.
    public init?(fields: ItemFields) {
        guard let server = fields.text(kSecAttrServer), let account = fields.text(kSecAttrAccount), let path = fields.text(kSecAttrPath),
            let domain = fields.text(kSecAttrSecurityDomain), fields.text(kSecAttrAuthenticationType) == "",
            let port = UInt16(exactly: fields.number(kSecAttrPort) ?? 0)
        else { return nil }
        // An omitted port is stored as the number 0, and every other omitted part as empty text.
        let scheme = fields.text(kSecAttrProtocol).flatMap { $0.isEmpty ? nil : Scheme(rawValue: $0) }
        self.init(server: server, account: account, scheme: scheme, port: port == 0 ? nil : port, path: path, securityDomain: domain)
    }

    /// A search for Internet passwords. Nil matches any value.
    public struct Query: PasswordQuery {
        /// The kind of name that the search returns.
        public typealias Name = InternetPassword

        /// The host name of the server.
        public var server: String?
        /// The account.
        public var account: String?
        /// The protocol.
        public var scheme: Scheme?
        /// The port.
        public var port: UInt16?
        /// The label.
        public var label: String?

        /// Creates a search for these values.
        public init(server: String? = nil, account: String? = nil, scheme: Scheme? = nil, port: UInt16? = nil, label: String? = nil) {
            self.server = server
            self.account = account
            self.scheme = scheme
            self.port = port
            self.label = label
        }

        /// The query as keychain attributes.
        public var fields: ItemFields {
            var fields = ItemFields(kSecClassInternetPassword, [:])
            fields.values[kSecAttrServer as String] = server.map { .text($0) }
            fields.values[kSecAttrAccount as String] = account.map { .text($0) }
            fields.values[kSecAttrProtocol as String] = scheme.map { .text($0.rawValue) }
            fields.values[kSecAttrPort as String] = port.map { .number(Int($0)) }
            fields.values[kSecAttrLabel as String] = label.map { .text($0) }
            return fields
        }
    }
}
