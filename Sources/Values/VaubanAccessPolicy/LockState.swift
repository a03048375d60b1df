/// The lock state of a user's keychain.
package enum LockState: Int64, CaseIterable, Sendable {
    /// No passcode was entered since the enclave started: the keys of classes A and C are unavailable.
    case beforeFirstUnlock = 0
    case locked = 1
    case unlocked = 2
    /// The stored state cannot be read. Every request is refused, and a warning states the reason.
    case unreadable = 3
}
