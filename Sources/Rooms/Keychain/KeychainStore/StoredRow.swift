// A row on disk. Nothing in it can be read without keys, which this module never has.

/// The table of a row. The raw value is the `state` of the tables `history` and `quarantine`.
package enum RowPlace: Int64, Sendable {
    /// An item that exists.
    case item = 0
    /// An earlier value of an item.
    case earlier = 1
    /// A deleted item that can be restored.
    case deleted = 2

    var table: String { self == .item ? "item" : "history" }
}

/// One stored item (Specs/keychain-database.md).
package struct StoredRow: Hashable, Sendable {
    /// The row's number in the database; 0 until it is written.
    package let id: Int64
    /// The item's identity, which never changes.
    package let item: [UInt8]
    package let kind: Int64
    /// The class's number, and the generation of its key.
    package let protection: Int64
    package let generation: [UInt8]
    package let blinds: RowBlinds
    package let halves: RowHalves
    package let place: RowPlace

    package init(
        id: Int64 = 0, item: [UInt8], kind: Int64, protection: Int64, generation: [UInt8], blinds: RowBlinds, halves: RowHalves,
        place: RowPlace = .item
    ) {
        self.id = id
        self.place = place
        self.item = item
        self.kind = kind
        self.protection = protection
        self.generation = generation
        self.blinds = blinds
        self.halves = halves
    }

    /// The bytes that count against the limit of a batch: those of the fields without a fixed size.
    package var countedBytes: Int { halves.secret.count + halves.metadata.count }

    /// Identifies the row until it is written again.
    package var handle: RowHandle { RowHandle(id: id, metadataBinding: halves.metadataBinding, place: place) }
}

/// The two ciphertexts of a row, each with the binding under which it was encrypted.
package struct RowHalves: Hashable, Sendable {
    package let secretBinding: [UInt8]
    package let wrappedKey: [UInt8]
    package let secret: [UInt8]
    package let metadataBinding: [UInt8]
    package let metadata: [UInt8]

    package init(secretBinding: [UInt8], wrappedKey: [UInt8], secret: [UInt8], metadataBinding: [UInt8], metadata: [UInt8]) {
        self.secretBinding = secretBinding
        self.wrappedKey = wrappedKey
        self.secret = secret
        self.metadataBinding = metadataBinding
        self.metadata = metadata
    }
}

/// The blinds by which a row can be found.
package struct RowBlinds: Hashable, Sendable {
    /// The blind of everything that makes the item unique, across all classes.
    package let primary: [UInt8]
    /// A `BlindList` of all attributes, so that any of them filters without a decryption.
    package let list: [UInt8]
    /// The few blinds by which rows are looked up, 16 bytes each.
    package let lookups: [[UInt8]]
    /// The same under the device index key, for rows that can be read before the first unlock.
    package let device: DeviceBlinds?

    package init(primary: [UInt8], list: [UInt8], lookups: [[UInt8]], device: DeviceBlinds?) {
        self.primary = primary
        self.list = list
        self.lookups = lookups
        self.device = device
    }
}

package struct DeviceBlinds: Hashable, Sendable {
    package let primary: [UInt8]
    package let list: [UInt8]
    package let lookups: [[UInt8]]

    package init(primary: [UInt8], list: [UInt8], lookups: [[UInt8]]) {
        self.primary = primary
        self.list = list
        self.lookups = lookups
    }
}

/// Identifies a row as it is now. A later write gives the row another binding, which the handle then does not match.
package struct RowHandle: Hashable, Sendable {
    package let id: Int64
    package let metadataBinding: [UInt8]
    package let place: RowPlace

    package init(id: Int64, metadataBinding: [UInt8], place: RowPlace = .item) {
        self.id = id
        self.metadataBinding = metadataBinding
        self.place = place
    }
}

/// A row that replaces one that was read. If it has no secret half of its own, the old one stays.
package struct RowChange: Hashable, Sendable {
    package let old: RowHandle
    package let row: StoredRow
    /// Whether the index columns change, which is impossible before the first unlock.
    package let changesBlinds: Bool
    /// The label under which the old row is kept as an earlier value; nil keeps none.
    package let keeping: HistoryLabel?
    /// The owner against whose allowance the item's earlier values count from now on; nil if unchanged.
    package let newOwner: String?
    /// An earlier value that leaves the history because it becomes the present value again.
    package let consuming: RowHandle?

    package init(
        old: RowHandle, row: StoredRow, changesBlinds: Bool, keeping: HistoryLabel? = nil, newOwner: String? = nil,
        consuming: RowHandle? = nil
    ) {
        self.old = old
        self.row = row
        self.changesBlinds = changesBlinds
        self.keeping = keeping
        self.newOwner = newOwner
        self.consuming = consuming
    }
}

/// Why a row was quarantined.
package enum QuarantineReason: String, CaseIterable, Sendable {
    case binding = "the row's binding cannot be read or does not fit its columns"
    case metadata = "the metadata half does not open"
    case content = "the metadata half holds no item of its class"
    case digest = "the row's parts are not of one write"
    case secret = "the secret half does not open"
    case wrappedKey = "the item key does not unwrap"
    case keyUnknown = "the enclave does not know the key that wraps the item key"
}
