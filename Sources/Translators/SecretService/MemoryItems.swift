internal import Synchronization
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanSecretBytes

/// The items of the collection `session`, which exist only in memory until the service ends.
final class MemoryItems: ItemStore {
    static let collection = "session"

    /// Whether an identifier belongs to this collection and not to the keychain.
    static func isGiven(_ identifier: String) -> Bool { ItemMapping.reference(identifier) == nil }

    private struct Entry: Sendable {
        var item: StoredItem
        var own: SecretServiceAttributes
        var secret: SharedSecret
        var share: ClientShare?

        var bytes: Int {
            item.attributes.reduce(secret.bytes.count + item.label.utf8.count + item.contentType.utf8.count) {
                $0 + $1.name.utf8.count + $1.value.utf8.count
            }
        }
    }

    private struct State: Sendable {
        var entries: [String: Entry] = [:]
        var lastNumber = 0

        /// Whether an entry fits, new or in place of another.
        func hasRoom(for entry: Entry, as identifier: String? = nil) -> Bool {
            let others = entries.filter { $0.key != identifier }.values
            let shared = others.filter { $0.share == entry.share }
            return others.count < SecretServiceLimits.memoryItemsMax && shared.count < SecretServiceLimits.memoryItemsOfShareMax
                && others.reduce(entry.bytes) { $0 + $1.bytes } <= SecretServiceLimits.memoryBytesMax
                && shared.reduce(entry.bytes) { $0 + $1.bytes } <= SecretServiceLimits.memoryBytesOfShareMax
        }
    }

    private let state = Mutex(State())

    func places(having pairs: [SecretServiceAttributes.Pair], in collection: String?) throws -> [ItemPlace] {
        guard collection == nil || collection == Self.collection else { return [] }
        let wanted = SecretServiceAttributes(attributes: pairs)
        return state.withLock { state in
            state.entries.filter { $0.value.own.match(wanted) }.keys.sorted()
                .map { ItemPlace(collection: Self.collection, identifier: $0, isLocked: false) }
        }
    }

    func listed(in collection: String, max: Int) throws -> [ListedItem]? {
        let items: [ListedItem]? = state.withLock { state in
            guard state.entries.count <= max else { return nil }
            return state.entries.map { ($0.key, ItemAudience.Item(isLocked: false, owner: $0.value.item.owner)) }
        }
        return items?.sorted { $0.identifier < $1.identifier }
    }

    func item(_ identifier: String, in collection: String) throws -> StoredItem { try entry(identifier).item }

    func secret(of identifier: String, in collection: String, for client: BusClient, until deadline: UInt64?) throws -> ItemSecret {
        let entry = try entry(identifier)
        return ItemSecret(item: entry.item, secret: entry.secret)
    }

    func create(
        _ edit: ItemEdit, in collection: String, replacing: (_ identifier: String, StoredItem) throws -> ItemEdit?
    ) throws -> ItemOutcome {
        let own = SecretServiceAttributes(attributes: edit.attributes ?? [])
        let now = Self.now
        let entry = Entry(
            item: StoredItem(
                label: edit.label ?? "", attributes: own.attributes, contentType: edit.contentType ?? ItemMapping.defaultContentType,
                created: now, modified: now, owner: edit.owner), own: own, secret: edit.secret ?? SharedSecret(copying: []),
            share: edit.share)
        // Makes the identifier unique, also across earlier processes, since a consent applies to one item.
        let random = try Entropy.bytes(8).map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        let made: ItemOutcome? = try state.withLock { state in
            let compared = own.withoutGenericSchema
            for (identifier, other) in state.entries where other.own.withoutGenericSchema.hasSameAttributes(as: compared) {
                guard let change = try replacing(identifier, other.item) else { continue }
                var entry = entry
                entry.item.created = other.item.created
                entry.item.owner = other.item.owner(after: change)
                guard state.hasRoom(for: entry, as: identifier) else { return nil }
                state.entries[identifier] = entry
                return ItemOutcome(identifier: identifier, isNew: false)
            }
            guard state.hasRoom(for: entry) else { return nil }
            state.lastNumber += 1
            let identifier = "\(state.lastNumber)_\(random)"
            state.entries[identifier] = entry
            return ItemOutcome(identifier: identifier, isNew: true)
        }
        guard let made else { throw Self.isFull }
        return made
    }

    func change(_ identifier: String, in collection: String, edit: (StoredItem) throws -> ItemEdit) throws {
        let now = Self.now
        try state.withLock { state in
            guard var entry = state.entries[identifier] else { throw BusError.noSuchObject }
            let change = try edit(entry.item)
            if let label = change.label { entry.item.label = label }
            if let contentType = change.contentType { entry.item.contentType = contentType }
            if let secret = change.secret { entry.secret = secret }
            if let attributes = change.attributes {
                entry.own = SecretServiceAttributes(attributes: attributes)
                entry.item.attributes = entry.own.attributes
            }
            entry.item.owner = entry.item.owner(after: change)
            entry.item.modified = now
            guard state.hasRoom(for: entry, as: identifier) else { throw Self.isFull }
            state.entries[identifier] = entry
        }
    }

    func delete(_ identifier: String, in collection: String, check: (StoredItem) throws -> Void) throws {
        try state.withLock { state in
            guard let entry = state.entries[identifier] else { throw BusError.noSuchObject }
            try check(entry.item)
            state.entries[identifier] = nil
        }
    }

    private func entry(_ identifier: String) throws(BusError) -> Entry {
        guard let entry = state.withLock({ $0.entries[identifier] }) else { throw .noSuchObject }
        return entry
    }

    private static let isFull = BusError(.limitsExceeded, "The session's collection is full")

    private static var now: UInt64 { ItemMapping.seconds(.date(MachineClock.referenceMicroseconds)) }
}
