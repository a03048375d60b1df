/// The path of an object of the service.
enum ObjectPath: Sendable {
    static let root = "/org/freedesktop/secrets"
    static let none = "/"
    private static let portalRoot = "/org/freedesktop/portal/desktop"

    case service
    /// A collection by its identifier.
    case collection(String)
    case alias(String)
    case item(collection: String, identifier: String)
    case session
    case prompt
    /// The backend of the Secret portal, and its requests that wait for the user.
    case portal
    case portalRequest
    /// KWallet's object.
    case wallets
    /// A folder of other objects.
    case folder(String)

    /// Parses a path; nil if it belongs to no object of the service.
    init?(_ path: String) {
        if WalletInterface.paths.contains(path) {
            self = .wallets
            return
        }
        if path == Self.portalRoot || path.hasPrefix("\(Self.portalRoot)/request/") {
            self = path == Self.portalRoot ? .portal : .portalRequest
            return
        }
        guard path == Self.root || path.hasPrefix("\(Self.root)/") else { return nil }
        let parts = path.dropFirst(Self.root.count).split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        switch (parts.first, parts.count) {
        case (nil, 0): self = .service
        case ("collection", 2): self = .collection(parts[1])
        case ("collection", 3): self = .item(collection: parts[1], identifier: parts[2])
        case ("aliases", 2): self = .alias(parts[1])
        case ("session", 2): self = .session
        case ("prompt", 2): self = .prompt
        case ("collection", 1), ("aliases", 1), ("session", 1), ("prompt", 1): self = .folder(parts[0])
        default: return nil
        }
    }

    static func collection(path identifier: String) -> String { "\(root)/collection/\(identifier)" }
    static func item(path identifier: String, in collection: String) -> String { "\(root)/collection/\(collection)/\(identifier)" }
}
