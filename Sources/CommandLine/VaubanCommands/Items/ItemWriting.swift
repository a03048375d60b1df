import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanSecretBytes

extension Session {
    func add(_ record: ItemRecord, secret: borrowing SecretBytes?) throws {
        switch secret {
        case .some(let secret): try CodeCounter.checkIsLocal(record, secret)
        case .none: break
        }
        _ = try opening { try keychain.add(record, secret: secret) }
    }

    /// Updates a found item, with a prompt if the item requires one.
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
