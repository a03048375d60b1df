/// The item classes that are stored. Certificates and keys take the next numbers when they come.
package enum ItemKind: Int64, CaseIterable, Sendable {
    case genericPassword = 1
    case internetPassword = 2
    /// The keychain's own: what the person has let programs do (Specs/access-groups.md). No caller can name it.
    case permission = 200

    /// The classes that callers can name.
    package static let allCases: [ItemKind] = [.genericPassword, .internetPassword]

    /// The raw string of `kSecClass…`.
    package var code: String {
        switch self {
        case .genericPassword: "genp"
        case .internetPassword: "inet"
        case .permission: "perm"
        }
    }

    /// A class by its number, if callers can name it.
    package init?(nameable number: Int64) {
        guard let kind = ItemKind(rawValue: number), Self.allCases.contains(kind) else { return nil }
        self = kind
    }

    package init?(code: String) {
        guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}
