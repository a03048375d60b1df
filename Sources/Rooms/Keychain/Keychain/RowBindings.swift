// Parses a row's bindings strictly and compares them with its columns. These are pure functions without keys or database, so that they can
// be fuzzed.

package import Crypto
package import EnclaveWire
package import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanPlainText
package import VaubanKeychainModel

/// Both bindings of a row, if they parse strictly and match the columns. They may differ only in their version and, if the format binds the
/// generation separately, in their generation, since a row that moved to a newer class key keeps its secret half.
package struct RowBindings {
    package let secret: RowBinding
    package let metadata: RowBinding

    package init?(_ row: StoredRow, of user: UInt32) {
        guard let metadata = try? RowBinding(derBytes: row.halves.metadataBinding), metadata.user == user, metadata.item == row.item,
            metadata.kind == row.kind, metadata.protection.number == row.protection, metadata.generation == row.generation
        else { return nil }
        self.metadata = metadata
        // Halves that were written together have identical bindings.
        if row.halves.secretBinding == row.halves.metadataBinding {
            secret = metadata
            return
        }
        guard let secret = try? RowBinding(derBytes: row.halves.secretBinding), secret.isOfSameItem(as: metadata) else { return nil }
        self.secret = secret
    }

    /// The binding of the wrapped key: the secret half's binding with the row's own generation.
    package var item: RowBinding { secret.with(generation: metadata.generation) }

    /// Returns the item without its value, the digest of its row, and whether it is a canary, from the decrypted metadata half; nil if that
    /// is not an item of the row's class and group.
    package func record(of opened: [UInt8]) -> (record: ItemRecord, digest: [UInt8], isCanary: Bool)? {
        guard let kind = ItemKind(rawValue: metadata.kind), let content = try? RowMetadata(derBytes: opened),
            content.attributes[.accessGroup] == .text(metadata.accessGroup)
        else { return nil }
        let record = ItemRecord(
            kind: kind, attributes: content.attributes, protection: metadata.protection, accessControl: metadata.accessControl)
        return (record, content.digest, content.isCanary)
    }

    /// Returns the blinds of an item under one index key.
    package static func blinds(of record: ItemRecord, under key: SymmetricKey) -> DeviceBlinds {
        AttributeBlinds.ofRow(record.attributes, kind: record.kind, key: IndexKey(key))
    }
}

extension RowBinding {
    /// Returns whether both are equal except for the version, and for the generation if the format binds it separately.
    func isOfSameItem(as other: RowBinding) -> Bool {
        let (mine, theirs) = (itemBinding, other.itemBinding)
        return mine.format == theirs.format && mine.user == theirs.user && mine.protection == theirs.protection
            && mine.generation == theirs.generation && mine.item == theirs.item && mine.kind == theirs.kind
            && mine.accessGroup.isSameBytes(as: theirs.accessGroup) && mine.accessControl == theirs.accessControl
    }
}
