internal import VaubanKeychainModel

/// An item as a client of the bus sees it, without its secret.
struct StoredItem: Sendable {
    var label: String
    var attributes: [SecretServiceAttributes.Pair]
    var contentType: String
    /// In seconds since 1970.
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

/// An item of a collection with the properties that decide which clients are notified about it.
typealias ListedItem = (identifier: String, item: ItemAudience.Item)

/// A client's changes of an item; nil leaves a part unchanged.
struct ItemEdit: Sendable {
    var label: String?
    var attributes: [SecretServiceAttributes.Pair]?
    var contentType: String?
    var secret: SharedSecret?
    /// The owner of a new item, or the new owner of an item that is taken over; empty for the user.
    var owner: String?
    /// The share whose memory limit a new item counts against.
    var share: ClientShare?
}

/// The result of a client's request to store an item.
struct ItemOutcome: Sendable {
    let identifier: String
    let isNew: Bool
}

extension StoredItem {
    /// Returns the owner after another client replaced the item: empty for the user, nil if the owner stays. A client that replaces an item
    /// of a sandboxed application takes it over; otherwise the application could read what it did not store.
    func ownerReplaced(by replacing: String?) -> String? {
        guard let owner, owner != replacing else { return nil }
        return replacing ?? ""
    }

    /// Returns the owner after an edit.
    func owner(after edit: ItemEdit) -> String? {
        guard let owner = edit.owner else { return self.owner }
        return owner.isEmpty ? nil : owner
    }
}

/// An item's secret, and the item as it was when the secret was read.
struct ItemSecret: Sendable {
    let item: StoredItem
    let secret: SharedSecret

    var contentType: String { item.contentType }
}

/// A store of items. Calls for locked items throw `isLocked`, calls for unknown items `noSuchObject`. Another client may change or replace
/// an item at any time, so access is decided by the item as it is at the moment of use, which is passed to the closures.
protocol ItemStore: Sendable {
    /// Returns the items that have all these attributes, in one collection or in all.
    func places(having attributes: [SecretServiceAttributes.Pair], in collection: String?) throws -> [ItemPlace]
    /// Returns the items of a collection, or nil if there are more than `max`. Does not wait for an unreachable keychain.
    func listed(in collection: String, max: Int) throws -> [ListedItem]?
    func item(_ identifier: String, in collection: String) throws -> StoredItem
    /// Returns the secret, with the item. May prompt the user on behalf of the client, until `deadline` in nanoseconds of the monotonic
    /// clock.
    func secret(of identifier: String, in collection: String, for client: BusClient, until deadline: UInt64?) throws -> ItemSecret
    /// Adds an item, or applies the edit that `replacing` returns to an item with exactly these attributes; nil leaves that item unchanged.
    func create(
        _ edit: ItemEdit, in collection: String, replacing: (_ identifier: String, StoredItem) throws -> ItemEdit?
    ) throws -> ItemOutcome
    /// Changes an item with the edit that `edit` returns.
    func change(_ identifier: String, in collection: String, edit: (StoredItem) throws -> ItemEdit) throws
    /// Deletes an item, unless `check` throws.
    func delete(_ identifier: String, in collection: String, check: (StoredItem) throws -> Void) throws
}
