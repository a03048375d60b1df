import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanSecretBytes

extension ServiceClient {
    /// Adds an item; a counter-based key of one-time codes with the counter of its address, unless the record has another.
    func add(_ record: ItemRecord, secret: borrowing SecretBytes?) throws {
        var record = record
        switch secret {
        case .some(let secret):
            try CodeCounter.checkIsLocal(record, secret)
            CodeCounter.startIfMissing(secret, in: &record)
        case .none: break
        }
        _ = try withUnlock { try keychain.add(record, secret: secret) }
    }

    /// Updates a found item, with a prompt if the item requires one. With a new value, a key for one-time codes gets the counter of that
    /// value.
    func update(_ record: ItemRecord, _ changes: ItemChanges, secret: borrowing SecretBytes?, reason: String) throws {
        var changes = changes
        switch secret {
        case .some(let secret): changes.attributes = CodeCounter.changes(to: record, for: secret).merging(changes.attributes)
        case .none: break
        }
        var query = try query(for: record)
        query.operationPrompt = reason
        if record.needsApproval {
            try withUnlock { try withPrompts { try keychain.update(query, changes, secret: secret, waiting: $0) } }
        } else {
            try withUnlock { try keychain.update(query, changes, secret: secret) }
        }
    }
}
