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
    /// Whether the item is locked. If so, its other properties are unknown.
    var isLocked = false

    static let locked = StoredItem(label: "", attributes: [], contentType: "", created: 0, modified: 0, isLocked: true)
}

/// The location of an item, and whether it can be read now.
struct ItemPlace: Sendable {
    let collection: String
    let identifier: String
    var isLocked: Bool

    var path: String { ObjectPath.item(path: identifier, in: collection) }
}

/// A client's changes of an item; nil leaves a part unchanged.
struct ItemEdit: Sendable {
    var label: String?
    var attributes: [SecretServiceAttributes.Pair]?
    var contentType: String?
    var secret: SharedSecret?
    /// The owner of a new item, or who takes an item over; empty for the user.
    var owner: String?
    /// Whose share of the memory a new item takes.
    var share: ClientShare?
}

/// What became of a client's request to store an item.
struct ItemOutcome: Sendable {
    let identifier: String
    let isNew: Bool
    /// Whether it replaced an item that another sandboxed application stored, which was taken over.
    var isTakenOver = false
}

extension StoredItem {
    /// Returns the owner after another client replaced the item, empty for the user, or nil if it stays. Who replaces what a sandboxed
    /// application stored takes it over: otherwise the application would read what it did not store.
    func ownerReplaced(by replacing: String?) -> String? {
        guard let owner, owner != replacing else { return nil }
        return replacing ?? ""
    }
}

typealias ItemSecret = (secret: SharedSecret, contentType: String)

/// A store of items. Calls for locked items throw `isLocked`, calls for unknown items `noSuchObject`.
protocol ItemStore: Sendable {
    /// Returns the items that have all these attributes, in one collection or in all.
    func places(having attributes: [SecretServiceAttributes.Pair], in collection: String?) throws -> [ItemPlace]
    func item(_ identifier: String, in collection: String) throws -> StoredItem
    /// Returns the secret and its content type. May prompt the user on behalf of the client.
    func secret(of identifier: String, in collection: String, for client: BusClient) throws -> ItemSecret
    /// Adds an item, or replaces one with exactly these attributes if that is allowed.
    func create(
        _ edit: ItemEdit, in collection: String, replacing mayReplace: (_ identifier: String, StoredItem) throws -> Bool
    ) throws -> ItemOutcome
    func change(_ identifier: String, in collection: String, _ edit: ItemEdit) throws
    func delete(_ identifier: String, in collection: String) throws
}
