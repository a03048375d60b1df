internal import Security

/// A password, token, key or other secret of an application, named by a service and an account.
///
/// ```swift
/// let token = GenericPassword(service: "com.example.Mail", account: "anna")
/// ```
public struct GenericPassword: PasswordName {
    /// What the secret is for. A name in reverse domain style keeps applications apart.
    public var service: String
    /// Whose it is.
    public var account: String

    /// Names a generic password.
    public init(service: String, account: String) {
        self.service = service
        self.account = account
    }

    /// The name as the keychain has it.
    public var fields: ItemFields {
        ItemFields(kSecClassGenericPassword, [kSecAttrService as String: .text(service), kSecAttrAccount as String: .text(account)])
    }

    /// The name of an item that a search found; nil where its parts are not text.
    public init?(fields: ItemFields) {
        guard let service = fields.text(kSecAttrService), let account = fields.text(kSecAttrAccount) else { return nil }
        self.init(service: service, account: account)
    }

    /// Which generic passwords a search means. What is nil matches any.
    public struct Query: PasswordQuery {
        /// The name that is found.
        public typealias Name = GenericPassword

        /// The service.
        public var service: String?
        /// The account.
        public var account: String?
        /// The label.
        public var label: String?

        /// A search by what is given here.
        public init(service: String? = nil, account: String? = nil, label: String? = nil) {
            self.service = service
            self.account = account
            self.label = label
        }

        /// The query as the keychain takes it.
        public var fields: ItemFields {
            var fields = ItemFields(kSecClassGenericPassword, [:])
            fields.values[kSecAttrService as String] = service.map { .text($0) }
            fields.values[kSecAttrAccount as String] = account.map { .text($0) }
            fields.values[kSecAttrLabel as String] = label.map { .text($0) }
            return fields
        }
    }
}

/// What a search looks for: ``GenericPassword/Query`` or ``InternetPassword/Query``.
public protocol PasswordQuery: Hashable, Sendable {
    /// The kind of name that is found.
    associatedtype Name: PasswordName

    /// The query as the keychain takes it.
    var fields: ItemFields { get }
}
