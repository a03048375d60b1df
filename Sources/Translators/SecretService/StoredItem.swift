internal import VaubanKeychainModel

/// An item as a client of the bus sees it, without its secret.
struct StoredItem: Sendable {
    var label: String
    var attributes: [SecretServiceAttributes.Pair]
    var contentType: String
    /// Seconds since 1970.
    var created: UInt64
    var modified: UInt64
    /// The sandboxed application that stored it; nil if it is the user's.
    var owner: String?
    /// Nothing else of it can be told then.
    var isLocked = false

    static let locked = StoredItem(label: "", attributes: [], contentType: "", created: 0, modified: 0, isLocked: true)
}

/// Where an item is, and whether it can be read now.
struct ItemPlace: Sendable {
    let collection: String
    let identifier: String
    var isLocked: Bool

    var path: String { ObjectPath.item(path: identifier, in: collection) }
}

/// What a client changes of an item; nil leaves it as it is.
struct ItemEdit: Sendable {
    var label: String?
    var attributes: [SecretServiceAttributes.Pair]?
    var contentType: String?
    var secret: SharedSecret?
    /// Of a new item.
    var owner: String?
}

/// A place for items. Locked ones are refused with `isLocked`, unknown ones with `noSuchObject`.
protocol ItemStore: Sendable {
    /// The items that have all these attributes, in a collection or in all.
    func places(having attributes: [SecretServiceAttributes.Pair], in collection: String?) throws -> [ItemPlace]
    func item(_ identifier: String, in collection: String) throws -> StoredItem
    /// The secret, and its content type. May ask the user for the sake of the client.
    func secret(of identifier: String, in collection: String, for client: BusClient) throws -> (secret: SharedSecret, contentType: String)
    /// Adds an item, or replaces one with exactly these attributes that may be replaced. Answers its identifier, and whether it is new.
    func create(
        _ edit: ItemEdit, in collection: String, replacing mayReplace: (_ identifier: String, StoredItem) throws -> Bool
    ) throws -> (identifier: String, isNew: Bool)
    func change(_ identifier: String, in collection: String, _ edit: ItemEdit) throws
    func delete(_ identifier: String, in collection: String) throws
}
