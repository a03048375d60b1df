import ArgumentParser
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanSSHWire
import VaubanSecretBytes

/// The durations for which answers hold, by key: an item of the service `ssh-hold` for each, whose account is the key's name.
struct SSHHolds {
    private let client: ServiceClient

    init(_ client: ServiceClient) { self.client = client }

    /// Parses a duration; nil for `off`.
    static func hold(_ text: String) throws -> SSHHold? {
        if text == "off" { return nil }
        guard let hold = SSHHold(seconds: try DurationArgument.seconds(text, unit: 60, max: SSHHold.secondsMax)) else {
            throw ValidationError("An answer holds for at least 1s; to prompt for each signature: off")
        }
        return hold
    }

    /// Returns the setting of each key that has one.
    func all() throws -> [String: SSHHold] {
        let found = try client.withUnlock { try client.found(SSHItem.passwords(of: SSHItem.holdService)) }
        return Dictionary(
            found.compactMap(\.record).compactMap { record in
                guard case .data(let stored)? = record.attributes[.generic] else { return nil }
                return SSHHold(stored: stored).map { (record.text(.account), $0) }
            }, uniquingKeysWith: { $1 })
    }

    func set(_ hold: SSHHold?, of key: String) throws {
        if let record = try record(key) {
            guard let hold else { return try client.withUnlock { try client.keychain.delete(try client.query(for: record)) } }
            let changes = ItemChanges(attributes: ItemAttributes([.generic: .data(hold.stored)]))
            return try client.update(record, changes, secret: nil, reason: "let an answer hold for a key for SSH")
        }
        guard let hold else { return }
        let attributes = ItemAttributes([
            .service: .text(SSHItem.holdService), .account: .text(key), .label: .text("\(SSHItem.holdService)/\(key)"),
            .generic: .data(hold.stored), .accessGroup: .text(AccessGroup.commandLine),
        ])
        try client.add(ItemRecord(kind: .genericPassword, attributes: attributes), secret: SecretBytes(copying: []))
    }

    /// Moves the setting of a key to another key's name.
    func rename(_ old: String, to new: String) throws {
        guard let record = try record(old) else { return }
        let name = ItemAttributes([.account: .text(new), .label: .text("\(SSHItem.holdService)/\(new)")])
        try client.update(record, ItemChanges(attributes: name), secret: nil, reason: "rename a key for SSH")
    }

    private func record(_ key: String) throws -> ItemRecord? {
        var query = SSHItem.passwords(of: SSHItem.holdService)
        query.attributes[.account] = .text(key)
        let wanted = query
        return try client.withUnlock { try client.found(wanted).compactMap(\.record).first }
    }
}
