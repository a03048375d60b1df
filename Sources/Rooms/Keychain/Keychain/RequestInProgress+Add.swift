internal import KeychainStore
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost

extension RequestInProgress {
    /// Adds an item (SecItemAdd). Encrypts the value before any look-up, so that while the class is locked even a duplicate is refused as
    /// locked.
    func add(_ wanted: ItemRecord, value: borrowing PaddedValue, returning returns: ReturnKinds, readableBy applications: [String]) throws {
        var record = try QueryGrammar.addition(wanted, for: try rights())
        let now = services.now()
        record.attributes[.creationDate] = .date(now)
        record.attributes[.modificationDate] = .date(now)
        try checkSize(record)
        try checkOffers(to: applications, by: record.accessGroup)
        let item = try Entropy.bytes(16)
        try withRetries { try write(record, item: item, value: value) }
        // If the process is killed between the two writes, the item exists without the permission, which is safe.
        for application in applications { try keep(.offers(item), for: application, by: record.accessGroup) }
        try keepProgram()
        let replies = ReplyBatch(sink, returning: returns)
        try replies.add(record, of: item, value: value)
        try replies.finish()
    }

    /// Writes the row of a new item. Returns false if the conflicting row no longer exists or is not an item.
    func write(_ record: ItemRecord, item: [UInt8], value: borrowing PaddedValue, isRestored: Bool = false) throws -> Bool {
        let blinds = try blinds(record)
        let binding = try binding(record, item: item, generation: try keys.generationToWrite(record.protection))
        let row = try row(of: record, isCanary: false, binding: binding, secret: try seal(value, binding), blinds: blinds)
        let outcome = try withLogRecords(of: .added, [UsedItem(record, item: item)]) {
            try database.insert(row, isRestored: isRestored, appending: $0)
        }
        guard try isDone(outcome) else { return false }
        rememberKey(value, of: record, item: item)
        return true
    }
}
