internal import GRDB
internal import Synchronization

extension KeychainDatabase {
    /// Says that blinds are made with this index key. The first one is remembered in the file; another one is refused,
    /// since under it nothing would be found and everything could be added twice.
    package func claim(indexKey purpose: Int64, generation: [UInt8]) throws(StorageFault) {
        if indexKeys.withLock({ $0[purpose] }) == generation { return }
        if try indexKeyGenerations()[purpose] == nil { try record(indexKey: purpose, generation: generation) }
        guard try indexKeyGenerations()[purpose] == generation else {
            throw .damaged(
                """
                \(path) was written under other keys than the enclave holds; put back the enclave's state that belongs to it, \
                or move it away to begin with an empty keychain
                """)
        }
        indexKeys.withLock { $0[purpose] = generation }
    }
}
