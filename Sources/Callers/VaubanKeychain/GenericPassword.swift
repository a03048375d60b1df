internal import Security

/// A password, token, key or other secret of an application, named by a service and an account.
///
/// ```swift
/// let token = GenericPassword(service: "com.example.Mail", account: "anna")
/// ```
public struct GenericPassword: PasswordName {
    /// The service that the secret is for. A name in reverse domain style keeps applications apart.
    public var service: String
    /// The account of the service.
    public var account: String

    /// Names a generic password.
    public init(service: String, account: String) {
        self.service = service
        self.account = account
    }

    /// The name as keychain attributes.
    public var fields: ItemFields {
        ItemFields(kSecClassGenericPassword, [kSecAttrService as String: .text(service), kSecAttrAccount as String: .text(account)])
    }

    /// Creates the name of an item that a search found; nil if its parts are not text.
    public init?(fields: ItemFields) {
        guard let service = fields.text(kSecAttrService), let account = fields.text(kSecAttrAccount) else { return nil }
        self.init(service: service, account: account)
    }

    /// A search for generic passwords. Nil matches any value.
    public struct Query: PasswordQuery {
        /// The kind of name that the search returns.
        public typealias Name = GenericPassword

        /// The service.
        public var service: String?
        /// The account.
        public var account: String?
        /// The label.
        public var label: String?

        /// Creates a search for these values.
        public init(service: String? = nil, account: String? = nil, label: String? = nil) {
            self.service = service
            self.account = account
            self.label = label
        }

        /// The query as keychain attributes.
        public var fields: ItemFields {
            var fields = ItemFields(kSecClassGenericPassword, [:])
            fields.values[kSecAttrService as String] = service.map { .text($0) }
            fields.values[kSecAttrAccount as String] = account.map { .text($0) }
            fields.values[kSecAttrLabel as String] = label.map { .text($0) }
            return fields
        }
    }
}

/// A search for items: ``GenericPassword/Query`` or ``InternetPassword/Query``.
public protocol PasswordQuery: Hashable, Sendable {
    /// The kind of name that the search returns.
    associatedtype Name: PasswordName

    /// The query as keychain attributes.
    var fields: ItemFields { get }
}
