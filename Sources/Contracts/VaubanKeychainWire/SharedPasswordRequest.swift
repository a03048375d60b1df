package import VaubanDER

/// A request about the user's passwords for a website, which its applications and the browser share.
///
/// `SharedPasswordRequest ::= SEQUENCE { action INTEGER { save (1), delete (2), pick (3) },
///   site UTF8String (SIZE (0..260)), account UTF8String (SIZE (0..1024)) }`
package struct SharedPasswordRequest: Hashable, Sendable, DERReadable, DERWritable {
    package enum Action: Int64, CaseIterable, Sendable {
        /// Adds a password, or changes the one of that account.
        case save = 1
        case delete = 2
        /// Returns the password that the user picks, with its server, account and port.
        case pick = 3
    }

    package static let siteBytesMax = 260
    package static let accountBytesMax = 1024

    package let action: Action
    /// The website with its port, as the caller wrote it; empty for the first website in the caller's entitlement.
    package let site: String
    /// Empty for any account, if the action is `pick`.
    package let account: String

    package init(_ action: Action, site: String, account: String) {
        self.action = action
        self.site = site
        self.account = account
    }

    package init(from fields: inout DERFields) throws {
        guard let action = Action(rawValue: try fields.integer("action", in: 1...255)) else { throw DERError("action is unknown") }
        self.action = action
        site = try fields.text("site", max: Self.siteBytesMax)
        account = try fields.text("account", max: Self.accountBytesMax)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(action.rawValue)
            try fields.text(site)
            try fields.text(account)
        }
    }
}
