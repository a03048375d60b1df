/// The lock state of a user's keychain.
package enum LockState: Int64, CaseIterable, Sendable {
    /// No passcode was entered since the enclave started: classes A and C are closed.
    case beforeFirstUnlock = 0
    case locked = 1
    case unlocked = 2
    /// The stored state cannot be read. Everything is refused, and a warning says why.
    case unreadable = 3
}
