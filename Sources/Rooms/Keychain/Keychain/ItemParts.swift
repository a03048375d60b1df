// The parts of a synchronized item, their digests, and how an item takes parts of another one (Specs/sync.md, "Parts").

internal import VaubanAccessPolicy
package import VaubanKeychainModel
internal import VaubanSecretBytes
package import VaubanSyncModel

extension ItemPart {
    /// The attribute; nil for the value and the protection class.
    package var attribute: AttributeName? {
        switch self {
        case .value, .protection: nil
        case .label: .label
        case .comment: .comment
        case .description: .description
        case .generic: .generic
        case .alias: .alias
        case .creator: .creator
        case .type: .type
        case .isInvisible: .isInvisible
        case .isNegative: .isNegative
        case .certificateEncoding: .certificateEncoding
        case .subject: .subject
        case .subjectKeyID: .subjectKeyID
        case .publicKeyHash: .publicKeyHash
        }
    }
}

/// Computes the digests of one item's parts.
struct PartDigester {
    private static let label = Array("vauban sync part v1".utf8) + [0]

    let key: IndexKey
    /// The blinded name: equal parts of two items have different digests.
    let name: [UInt8]

    func digests(of record: ItemRecord, _ value: borrowing PaddedValue) -> PartDigests {
        var digests: [ItemPart: UInt64] = [:]
        // The value is in no buffer that is not overwritten.
        digests[.value] = key.code(message(.value, [value.hasValue ? 1 : 0]), then: value.value())
        digests[.protection] = key.code(message(.protection, withUnsafeBytes(of: record.protection.number.bigEndian) { Array($0) }))
        for part in ItemPart.allCases {
            guard let content = part.attribute.flatMap({ record.attributes[$0] }) else { continue }
            digests[part] = key.code(message(part, content.equalityBytes))
        }
        return PartDigests(digests.mapValues { max($0, 1) })
    }

    private func message(_ part: ItemPart, _ content: [UInt8]) -> [UInt8] { Self.label + name + [part.rawValue] + content }
}

extension ItemRecord {
    /// Takes parts of another record. Only the caller has the values.
    package mutating func take(_ parts: Set<ItemPart>, of other: ItemRecord) {
        for part in parts {
            if let name = part.attribute { attributes[name] = other.attributes[name] }
            if part == .protection { protection = other.protection }
        }
    }

    /// Whether a record of the same name is of the same item, and not of another one that was added under that name.
    package func isOfSameItem(as other: ItemRecord) -> Bool {
        kind == other.kind && attributes[.creationDate] == other.attributes[.creationDate]
    }
}
