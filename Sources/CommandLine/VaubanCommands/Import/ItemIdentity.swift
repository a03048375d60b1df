import VaubanKeychainModel

/// The primary key of an item without its owner, in a form in which text and data of the same bytes are equal.
struct ItemIdentity: Hashable {
    private let kind: ItemKind
    private let name: [AttributeName: [UInt8]]

    init(_ record: ItemRecord) {
        kind = record.kind
        name = Dictionary(
            uniqueKeysWithValues: record.wholeName.filter { $0.name != .accessGroup }.map { ($0.name, $0.value.equalityBytes) })
    }
}
