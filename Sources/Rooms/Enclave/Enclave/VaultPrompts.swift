// What a vault has for others to do, taken under one lock.

package struct VaultPrompts: Sendable {
    /// When something is due next; boot-time clock.
    package let due: UInt64?
    /// What must be called back from keychaind, until it `wasCalledBack`.
    package var ended: RecalledEpoch?
    /// Whether what the user could answer with is another than when this was last taken.
    package var environmentHasChanged = false
    /// Whether the reader holds something that opens nothing any more.
    package var readerIsToDrop = false
    /// What the reader is to hold while the device is locked.
    package var handOver: HeldSecret?
}

extension VaultState {
    /// All but the ended epoch is handed out once.
    mutating func takeAttention(_ host: EnclaveHost) -> VaultPrompts {
        var attention = VaultPrompts(due: nextDue)
        attention.ended = ended
        attention.environmentHasChanged = takeEnvironmentChange(host)
        attention.readerIsToDrop = takeReaderDrop()
        attention.handOver = suspended?.handOver.take()
        return attention
    }
}
