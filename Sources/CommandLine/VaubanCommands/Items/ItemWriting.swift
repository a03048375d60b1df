import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanSecretBytes

extension Session {
    func add(_ record: ItemRecord, secret: borrowing SecretBytes?) throws {
        _ = try opening { try keychain.add(record, secret: secret) }
    }

    /// Changes a found item, asking the user where it asks.
    func update(_ record: ItemRecord, _ changes: ItemChanges, secret: borrowing SecretBytes?, reason: String) throws {
        var query = query(for: record)
        query.operationPrompt = reason
        if record.asks {
            try opening { try asking { try keychain.update(query, changes, secret: secret, waiting: $0) } }
        } else {
            try opening { try keychain.update(query, changes, secret: secret) }
        }
    }
}
