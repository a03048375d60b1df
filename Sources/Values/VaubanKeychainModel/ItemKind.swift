/// The item classes that are stored. Certificates and keys take the next numbers when they come.
package enum ItemKind: Int64, CaseIterable, Sendable {
    case genericPassword = 1
    case internetPassword = 2

    /// The raw string of `kSecClass…`.
    package var code: String {
        switch self {
        case .genericPassword: "genp"
        case .internetPassword: "inet"
        }
    }

    package init?(code: String) {
        guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}
