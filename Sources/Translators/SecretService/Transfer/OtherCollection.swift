internal import Crypto
internal import FoundationEssentials
internal import VaubanAccessPolicy
internal import VaubanKeychainModel

/// A collection of another provider: its items, and their form in the keychain (Specs/secret-service.md, "Import").
struct OtherCollection {
    let path: String
    let label: String
    let items: [OtherItem]

    init(path: String, label: String, items: [OtherItem]) {
        self.path = path
        self.label = label
        // The oldest of several items with the same attributes is the one that has no instance.
        self.items = items.sorted { ($0.created, $0.path) < ($1.created, $1.path) }
    }

    var identifier: String { Self.identifier(of: path) }

    /// The last part of the path, which does not change when the user renames the collection. A part that is too long is cut and followed
    /// by its digest.
    static func identifier(of path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? KeychainItems.login
        guard name.utf8.count > SecretServiceAttributes.collectionBytesMax else { return name }
        return "\(name.prefix(SecretServiceAttributes.collectionBytesMax - 17))_\(ItemMapping.identifier(digest(path)))"
    }

    /// The record of the collection; nil for the one that always exists.
    var record: ItemRecord? { Self.record(identifier, label: label) }

    static func record(_ identifier: String, label: String) -> ItemRecord? {
        guard identifier != KeychainItems.login else { return nil }
        let attributes = ItemAttributes([
            .service: .text(CollectionRecords.service), .account: .text(identifier), .label: .text(label.isEmpty ? identifier : label),
        ])
        return ItemRecord(kind: .genericPassword, attributes: attributes, protection: .afterFirstUnlock)
    }

    /// The instances that distinguish items with the same attributes. From the second item on, an instance is a digest of the path, so that
    /// a later import finds the same item.
    var instances: [[UInt8]] {
        var taken: Set<[[UInt8]]> = []
        return items.map { item in
            taken.insert(SecretServiceAttributes(attributes: item.attributes).terms).inserted ? [] : Self.digest(item.path)
        }
    }

    func record(of item: OtherItem, instance: [UInt8], contentType: String, provider: String) throws -> ItemRecord {
        let edit = ItemEdit(label: item.label, attributes: item.attributes, contentType: contentType)
        var attributes = try ItemMapping.attributes(edit, in: identifier, instance: instance)
        attributes[.comment] = .text(origin(of: item, provider))
        return ItemRecord(kind: .genericPassword, attributes: attributes)
    }

    /// The times that a date can show, up to the year 9999; 0 is none.
    private static let seconds: ClosedRange<UInt64> = 1...253_402_300_799

    /// The origin of the item, as lines for its comment, since the keychain sets its own dates.
    private func origin(of item: OtherItem, _ provider: String) -> String {
        let dates = [("created", item.created), ("modified", item.modified)].filter { Self.seconds.contains($0.1) }
            .map { "\($0.0): \(Date(timeIntervalSince1970: TimeInterval($0.1)).formatted(.iso8601))" }
        return (dates + ["imported from: \(provider), \(label.isEmpty ? identifier : label)"]).joined(separator: "\n")
    }

    static func digest(_ path: String) -> [UInt8] { Array(SHA256.hash(data: Array(path.utf8)).prefix(8)) }
}
