import Foundation
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanSSHWire
import VaubanSecretBytes

/// A server or service where the user registered a public key, and the day on which they recorded that.
struct SSHPlace: Hashable {
    let name: String
    /// The day as in `2026-11-22`, UTC.
    let day: String

    private static let nameBytesMax = 200

    static func check(name: String) throws(Refusal) {
        guard !name.isEmpty, name.utf8.count <= nameBytesMax, SafeText.line(name, max: nameBytesMax) == name else {
            throw Refusal(.badParameter, "A place must be one line of at most \(nameBytesMax) bytes, such as git.example.org")
        }
    }

    static func today(_ name: String) -> SSHPlace {
        SSHPlace(name: name, day: Date().formatted(.iso8601.year().month().day()))
    }
}

/// The places of each key: a password of the service `ssh-places`, whose account is the key's name. Its value has a line for each place:
/// the day, then the place's name (Specs/ssh-agent.md, "Items").
struct SSHPlaces {
    private let client: ServiceClient
    private static let placesMax = 1000

    init(_ client: ServiceClient) { self.client = client }

    /// Returns the places of a key in the order in which they were added.
    func places(of key: String) throws -> [SSHPlace] {
        guard let record = try record(key), let value = try client.read(record, reason: "see where \(key) is registered").takeSecret()
        else {
            return []
        }
        return value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 1)
            return words.count == 2 ? SSHPlace(name: String(words[1]), day: String(words[0])) : nil
        }
    }

    /// Adds a place; a place that exists already keeps its day.
    func add(_ name: String, to key: String) throws {
        try SSHPlace.check(name: name)
        let places = try places(of: key)
        guard !places.contains(where: { $0.name == name }) else { return }
        guard places.count < Self.placesMax else {
            throw Refusal(
                .dataTooLarge, "A key has at most \(Self.placesMax) places; remove one first: vauban ssh where \(key) --remove PLACE")
        }
        try write(places + [.today(name)], of: key)
    }

    func remove(_ name: String, from key: String) throws {
        let places = try places(of: key)
        guard places.contains(where: { $0.name == name }) else {
            throw Refusal(.itemNotFound, "\(key) is not recorded at \(SafeText.line(name, max: 200))")
        }
        try write(places.filter { $0.name != name }, of: key)
    }

    /// Moves the places of a key to another key's name.
    func rename(_ old: String, to new: String) throws {
        guard let record = try record(old) else { return }
        let name = ItemAttributes([.account: .text(new), .label: .text("\(SSHItem.placesService)/\(new)")])
        try client.update(record, ItemChanges(attributes: name), secret: nil, reason: "rename a key for SSH")
    }

    private func write(_ places: [SSHPlace], of key: String) throws {
        let text = places.map { "\($0.day) \($0.name)\n" }.joined()
        let value = SecretBytes(copying: Array(text.utf8))
        if let record = try record(key) {
            let changes = ItemChanges(attributes: ItemAttributes(), hasData: true)
            return try client.update(record, changes, secret: value.duplicate(), reason: "record where \(key) is registered")
        }
        let attributes = ItemAttributes([
            .service: .text(SSHItem.placesService), .account: .text(key), .label: .text("\(SSHItem.placesService)/\(key)"),
            .accessGroup: .text(AccessGroup.commandLine),
        ])
        try client.add(ItemRecord(kind: .genericPassword, attributes: attributes), secret: value.duplicate())
    }

    private func record(_ key: String) throws -> ItemRecord? {
        var query = SSHItem.passwords(of: SSHItem.placesService)
        query.attributes[.account] = .text(key)
        let wanted = query
        return try client.withUnlock { try client.found(wanted).compactMap(\.record).first }
    }
}
