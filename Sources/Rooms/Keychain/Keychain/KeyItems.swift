// Which item a private key belongs to, so that the access log can name it (Specs/access-log.md). The enclave, which uses the keys, does not
// know the items.

internal import Crypto
internal import EnclaveWire
internal import Foundation
internal import KeychainStore
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanSecretBytes

/// The items whose enclave keys this process has stored or read since it started, by the digest of the whole key. It contains no names:
/// these are read from the database, as far as their classes are unlocked.
final class KeyItems: Sendable {
    private let items = ThreadMutex(ValuesOfUsers<[[UInt8]: [UInt8]]>())

    /// Remembers that a value is the key of an item. The first item that this process sees with a key keeps it, and none is dropped to make
    /// room for others, so that a program that has the bytes of a key cannot later make the log call it by another name.
    func remember(_ value: borrowing SecretBytes, of item: [UInt8], user: UInt32) {
        let digest = value.withUnsafeBytes { Array(SHA256.hash(data: $0)) }
        items.withLock { items in
            items.change(user, from: [:]) { known in
                guard known[digest] == nil, known.count < KeychainLimits.keyItemsMax else { return }
                known[digest] = item
            }
        }
    }

    /// Returns what the log says of a key: its item, or what distinguishes the key if no item is known.
    func item(of key: UsedKey?, user: UInt32, in database: KeychainDatabase, _ names: ItemNames?) -> UsedItem {
        guard let key else { return .further(1) }
        if let item = items.withLock({ $0.value(of: user)?[key.digest] }) {
            if let row = try? database.row(ofItem: item) { return names?.used(row, of: user) ?? UsedItem(unnamed: item) }
            // Another item may have the key.
            items.withLock { items in items.change(user) { known in known[key.digest] = nil } }
        }
        let label = key.label.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        return UsedItem(item: [], kind: ItemKind.key.rawValue, owner: "", name: "private key \(label)")
    }
}

/// Reads the names of items with leased keys alone, without a request.
package struct ItemNames: Sendable {
    private let leasedKeys: LeasedKeyStore
    private let sleepClock: SleepClock

    package init(leasedKeys: LeasedKeyStore, sleepClock: SleepClock) {
        self.leasedKeys = leasedKeys
        self.sleepClock = sleepClock
    }

    /// Returns what the log says of an item; without its name if its class is locked.
    func used(_ row: StoredRow, of user: UInt32) -> UsedItem? {
        guard RowBindings(row, of: user) != nil else { return nil }
        return content(of: row, user: user).map { UsedItem($0.record, item: row.item) } ?? UsedItem(unopened: row.handle)
    }

    /// Returns the attributes of an item, and whether it is a canary; nil if its class is locked or its row is damaged.
    func content(of row: StoredRow, user: UInt32) -> (record: ItemRecord, isCanary: Bool)? {
        _ = leasedKeys.drop(ifSleptSince: sleepClock.slept())
        guard let bindings = RowBindings(row, of: user) else { return nil }
        let opened = try? leasedKeys.use(
            .metadata(bindings.metadata.protection), generation: bindings.metadata.generation, of: user
        ) { key, _ in try RowCipher.openMetadata(row.halves.metadata, key: key, binding: row.halves.metadataBinding) }
        return opened.flatMap(bindings.record).map { ($0.record, $0.isCanary) }
    }
}

extension UsedItem {
    fileprivate init(unnamed item: [UInt8]) { self.init(item: item, kind: ItemKind.key.rawValue, owner: "", name: "") }
}
