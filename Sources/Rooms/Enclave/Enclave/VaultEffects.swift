// The effects of a vault that the room must apply, taken in one step under the vault's lock.

package struct VaultEffects: Sendable {
    /// When the next expiration is due, in nanoseconds of the boot-time clock.
    package let nextExpiration: UInt64?
    /// The epoch to recall from keychaind, until `confirmRecall`.
    package var ended: RecalledEpoch?
    /// Whether the user's environment changed since this was last taken.
    package var environmentChanged = false
    /// Whether the reader must erase a key that can no longer open anything.
    package var readerMustErase = false
    /// Whether the reader is to hold a key while the device is locked, which `takeHandOver` returns.
    package var readerMustHold = false
}

extension VaultState {
    /// Takes the effects. Each is returned once, except the ended epoch.
    mutating func takeEffects(_ host: EnclaveHost) -> VaultEffects {
        var effects = VaultEffects(nextExpiration: nextExpiration)
        effects.ended = ended
        effects.environmentChanged = takeEnvironmentChange(host)
        effects.readerMustErase = takeReaderEraseRequest()
        effects.readerMustHold = suspended?.handOver != nil
        return effects
    }
}
