internal import GRDB
internal import VaubanLinuxHost

extension KeychainDatabase {
    /// Says that blinds are made with this index key. The first one is remembered in the file. Answers the one that is
    /// remembered where it is another: under this one nothing would be found and everything could be added twice.
    package func claim(indexKey purpose: Int64, generation: [UInt8]) throws(StorageError) -> [UInt8]? {
        if indexKeys.withLock({ $0[purpose] }) == generation { return nil }
        if try indexKeyGenerations()[purpose] == nil { try record(indexKey: purpose, generation: generation) }
        let recorded = try indexKeyGenerations()[purpose]
        guard recorded == generation else { return recorded ?? [] }
        indexKeys.withLock { $0[purpose] = generation }
        return nil
    }

    /// What is to be said when the remembered index key is not the enclave's.
    package var foreignKeys: StorageError {
        .damaged(
            """
            \(path) was written under other keys than the enclave holds; put back the enclave's state that belongs to it, \
            or move it away to begin with an empty keychain
            """)
    }
}
