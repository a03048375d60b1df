internal import VaubanKeychainModel

/// A persistent reference: the class as four letters and the item's identifier, 20 bytes in all (Specs/item-attributes.md).
struct PersistentReference: Hashable {
    let kind: ItemKind
    let item: [UInt8]

    init(kind: ItemKind, item: [UInt8]) {
        self.kind = kind
        self.item = item
    }

    /// Returns nil for other bytes. Apple's older form with a row number is not supported.
    init?(_ data: Data) {
        let bytes = [UInt8](data)
        guard bytes.count == 20, let code = String(validating: bytes.prefix(4), as: UTF8.self), let kind = ItemKind(code: code) else {
            return nil
        }
        self.init(kind: kind, item: Array(bytes.dropFirst(4)))
    }

    var data: NSData { NSData(data: Data(Array(kind.code.utf8) + item)) }
}
