internal import GRDB
internal import VaubanLinuxHost

extension KeychainDatabase {
    /// Binds the file to the index key of its blinds. Returns the recorded generation if it differs: with this key, searches would find
    /// nothing and every item could be added twice.
    package func claim(indexKey purpose: Int64, generation: [UInt8]) throws(StorageError) -> [UInt8]? {
        if indexKeys.withLock({ $0[purpose] }) == generation { return nil }
        if try indexKeyGenerations()[purpose] == nil { try record(indexKey: purpose, generation: generation) }
        let recorded = try indexKeyGenerations()[purpose]
        guard recorded == generation else { return recorded ?? [] }
        indexKeys.withLock { $0[purpose] = generation }
        return nil
    }

    /// The error for an index key that is not the enclave's.
    package var foreignKeys: StorageError {
        .damaged(
            """
            \(path) was written under other keys than the enclave holds; put back the enclave's state that belongs to it, \
            or move it away to begin with an empty keychain
            """)
    }
}
