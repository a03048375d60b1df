// What a row says of itself, read strictly and held against its columns. Pure: no key, no database, so that it can be fuzzed.

package import Crypto
package import EnclaveWire
package import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanDER
package import VaubanKeychainModel

/// Both bindings of a row, if they can be read strictly, fit the columns, and differ in nothing but their version and, where
/// the format keeps that apart, the generation: a row that went to a newer class key keeps its secret half.
package struct RowBindings {
    package let secret: RowBinding
    package let metadata: RowBinding

    package init?(_ row: StoredRow, of user: UInt32) {
        guard let metadata = try? RowBinding(derBytes: row.halves.metadataBinding), metadata.user == user, metadata.item == row.item,
            metadata.kind == row.kind, metadata.protection.number == row.protection, metadata.generation == row.generation
        else { return nil }
        self.metadata = metadata
        // Written together, both halves have the same.
        if row.halves.secretBinding == row.halves.metadataBinding {
            secret = metadata
            return
        }
        guard let secret = try? RowBinding(derBytes: row.halves.secretBinding), secret.isOfSameItem(as: metadata) else { return nil }
        self.secret = secret
    }

    /// What the wrapped key is bound to: the secret half's binding under the row's own generation.
    package var item: RowBinding { secret.with(generation: metadata.generation) }

    /// The item without its value and the digest of its row, from the opened metadata half; nil where that holds no item of
    /// its class and group.
    package func record(of opened: [UInt8]) -> (record: ItemRecord, digest: [UInt8])? {
        guard let kind = ItemKind(rawValue: metadata.kind), let content = try? RowMetadata(derBytes: opened),
            content.attributes[.accessGroup] == .text(metadata.accessGroup)
        else { return nil }
        let record = ItemRecord(
            kind: kind, attributes: content.attributes, protection: metadata.protection, accessControl: metadata.accessControl)
        return (record, content.digest)
    }

    /// What an item is found by under one index key.
    package static func blinds(of record: ItemRecord, under key: SymmetricKey) -> DeviceBlinds {
        AttributeBlinds.ofRow(record.kind, record.attributes, IndexKey(key))
    }
}

extension RowBinding {
    /// Equal in everything but the version, and the generation where the format keeps that apart from the item.
    func isOfSameItem(as other: RowBinding) -> Bool {
        let (mine, theirs) = (itemBinding, other.itemBinding)
        return mine.format == theirs.format && mine.user == theirs.user && mine.protection == theirs.protection
            && mine.generation == theirs.generation && mine.item == theirs.item && mine.kind == theirs.kind
            && mine.accessGroup == theirs.accessGroup && mine.accessControl == theirs.accessControl
    }
}
