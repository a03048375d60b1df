internal import VaubanKeychainModel

/// An entry of a wallet: an item whose attributes name folder, entry and type, in the form of QtKeychain and of KDE's own service for other
/// providers (Specs/kwallet.md).
struct WalletEntry: Sendable {
    /// The types of entries, with KWallet's numbers.
    enum Kind: Int32 {
        case password = 1
        case stream = 2
        case map = 3

        /// The value of the attribute `type` of new entries.
        var name: String {
            switch self {
            case .password: "plaintext"
            case .stream: "binary"
            case .map: "map"
            }
        }

        var contentType: String { self == .stream ? "application/octet-stream" : ItemMapping.defaultContentType }
    }

    static let folderAttribute = "server"
    static let nameAttribute = "user"
    static let kindAttribute = "type"
    private static let base64Name = "base64"
    private static let schema = SecretServiceAttributes.Pair("xdg:schema", "org.qt.keychain")

    let identifier: String
    let item: StoredItem
    let folder: String
    let name: String
    let kind: Kind
    /// Whether the item's value is the entry's value in Base64.
    let isBase64: Bool

    /// Parses an item; nil if it is not an entry of a wallet.
    init?(_ identifier: String, _ item: StoredItem) {
        func value(_ name: String) -> String? { item.attributes.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }
        guard let folder = value(Self.folderAttribute), let name = value(Self.nameAttribute), let kindName = value(Self.kindAttribute)
        else { return nil }
        switch kindName {
        case Kind.password.name: kind = .password
        case Kind.stream.name, Self.base64Name: kind = .stream
        case Kind.map.name: kind = .map
        default: return nil
        }
        self.identifier = identifier
        self.item = item
        self.folder = folder
        self.name = name
        isBase64 = kindName == Self.base64Name
    }

    static func attributes(folder: String, name: String, _ kind: Kind) -> [SecretServiceAttributes.Pair] {
        [pair(folder: folder), pair(name: name), SecretServiceAttributes.Pair(kindAttribute, kind.name), schema]
    }

    /// Returns the item's attributes, with another name or type if given.
    func attributes(name: String? = nil, _ kind: Kind? = nil) -> [SecretServiceAttributes.Pair] {
        let changed = [name.map(Self.pair(name:)), kind.map(Self.pair)].compactMap { $0 }
        return item.attributes.filter { own in !changed.contains { $0.name.utf8.elementsEqual(own.name.utf8) } } + changed
    }

    static func pair(folder: String) -> SecretServiceAttributes.Pair { SecretServiceAttributes.Pair(folderAttribute, folder) }
    static func pair(name: String) -> SecretServiceAttributes.Pair { SecretServiceAttributes.Pair(nameAttribute, name) }
    static func pair(_ kind: Kind) -> SecretServiceAttributes.Pair { SecretServiceAttributes.Pair(kindAttribute, kind.name) }

    /// The attributes that mark an item as an entry, of which each entry has exactly one.
    static let kinds = ([Kind.password, .stream, .map].map(\.name) + [base64Name]).map { SecretServiceAttributes.Pair(kindAttribute, $0) }

    /// Returns the label of an entry, cut to the maximum length.
    static func label(folder: String, name: String) -> String {
        var label = "\(folder)/\(name)"
        while label.utf8.count > SecretServiceLimits.labelBytesMax { label = String(label.prefix(label.count * 3 / 4)) }
        return label
    }

    /// Whether this entry is preferred to another of the same name: first by the owner of the client's own items, then by the later change,
    /// and finally by an order that is the same each time.
    func precedes(_ other: WalletEntry, for owner: String?) -> Bool {
        let isOwn = item.owner == owner
        guard isOwn == (other.item.owner == owner) else { return isOwn }
        return (other.item.modified, identifier) < (item.modified, other.identifier)
    }
}
