/// The classes of items, with their stored numbers.
package enum ItemKind: Int64, CaseIterable, Sendable {
    case genericPassword = 1
    case internetPassword = 2
    case certificate = 3
    case key = 4
    /// A certificate with its private key; never stored.
    case identity = 5
    /// A permission, the keychain's own record (Specs/access-groups.md). No caller can name this class.
    case permission = 200

    /// The stored classes that callers can name.
    package static let allCases: [ItemKind] = [.genericPassword, .internetPassword, .certificate, .key]

    /// The raw string of `kSecClass…`.
    package var code: String {
        switch self {
        case .genericPassword: "genp"
        case .internetPassword: "inet"
        case .certificate: "cert"
        case .key: "keys"
        case .identity: "idnt"
        case .permission: "perm"
        }
    }

    /// Returns a class by its number, if callers can name it.
    package init?(nameable number: Int64) {
        guard let kind = ItemKind(rawValue: number), kind != .permission else { return nil }
        self = kind
    }

    package init?(code: String) {
        guard let found = (Self.allCases + [.identity]).first(where: { $0.code == code }) else { return nil }
        self = found
    }
}

/// A set of classes, in one byte.
package struct ItemKinds: Hashable, Sendable {
    private var bits: UInt8 = 0

    package init(_ kinds: ItemKind...) { bits = kinds.reduce(0) { $0 | Self.bit(of: $1) } }

    package func contains(_ kind: ItemKind) -> Bool { bits & Self.bit(of: kind) != 0 }

    package func union(_ other: ItemKinds) -> ItemKinds {
        var both = self
        both.bits |= other.bits
        return both
    }

    /// Numbers of classes that callers can name are below 8.
    private static func bit(of kind: ItemKind) -> UInt8 { kind == .permission ? 1 : 1 << UInt8(kind.rawValue) }
}
