internal import Synchronization
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanSecretBytes

/// The items of the collection `session`, which exist only in memory until the service ends.
final class MemoryItems: ItemStore {
    static let collection = "session"

    private struct Entry: Sendable {
        var item: StoredItem
        var own: SecretServiceAttributes
        var secret: SharedSecret
    }

    private struct State: Sendable {
        var entries: [String: Entry] = [:]
        var lastNumber = 0
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

    func item(_ identifier: String, in collection: String) throws -> StoredItem { try entry(identifier).item }

    func secret(of identifier: String, in collection: String, for client: BusClient) throws -> (secret: SharedSecret, contentType: String) {
        let entry = try entry(identifier)
        return (entry.secret, entry.item.contentType)
    }

    func create(
        _ edit: ItemEdit, in collection: String, replacing mayReplace: (_ identifier: String, StoredItem) throws -> Bool
    ) throws -> (identifier: String, isNew: Bool) {
        let own = SecretServiceAttributes(attributes: edit.attributes ?? [])
        let now = Self.now
        let entry = Entry(
            item: StoredItem(
                label: edit.label ?? "", attributes: own.attributes, contentType: edit.contentType ?? ItemMapping.defaultContentType,
                created: now, modified: now, owner: edit.owner), own: own, secret: edit.secret ?? SharedSecret(copying: []))
        let made: (String, Bool)? = try state.withLock { state in
            let same = try state.entries.first {
                try $0.value.own.withoutGenericSchema.hasSameAttributes(as: own.withoutGenericSchema) && mayReplace($0.key, $0.value.item)
            }
            if let same {
                var entry = entry
                entry.item.created = same.value.item.created
                entry.item.owner = same.value.item.owner
                state.entries[same.key] = entry
                return (same.key, false)
            }
            let bytes = state.entries.values.reduce(entry.secret.bytes.count) { $0 + $1.secret.bytes.count }
            guard state.entries.count < SecretServiceLimits.memoryItemsMax, bytes <= SecretServiceLimits.memoryBytesMax else { return nil }
            state.lastNumber += 1
            state.entries["\(state.lastNumber)"] = entry
            return ("\(state.lastNumber)", true)
        }
        guard let made else { throw BusFailure(.limitsExceeded, "The session's collection is full.") }
        return made
    }

    func change(_ identifier: String, in collection: String, _ edit: ItemEdit) throws {
        var entry = try entry(identifier)
        if let label = edit.label { entry.item.label = label }
        if let contentType = edit.contentType { entry.item.contentType = contentType }
        if let secret = edit.secret { entry.secret = secret }
        if let attributes = edit.attributes {
            entry.own = SecretServiceAttributes(attributes: attributes)
            entry.item.attributes = entry.own.attributes
        }
        entry.item.modified = Self.now
        let changed = entry
        let isThere = state.withLock { state in state.entries.updateValue(changed, ifThere: identifier) }
        guard isThere else { throw BusFailure.noSuchObject }
    }

    func delete(_ identifier: String, in collection: String) throws {
        guard state.withLock({ $0.entries.removeValue(forKey: identifier) }) != nil else { throw BusFailure.noSuchObject }
    }

    private func entry(_ identifier: String) throws(BusFailure) -> Entry {
        guard let entry = state.withLock({ $0.entries[identifier] }) else { throw .noSuchObject }
        return entry
    }

    private static var now: UInt64 { ItemMapping.seconds(.date(MachineClock.referenceMicroseconds)) }
}

extension Dictionary {
    fileprivate mutating func updateValue(_ value: Value, ifThere key: Key) -> Bool {
        guard self[key] != nil else { return false }
        self[key] = value
        return true
    }
}
