/// What time, a passcode and the user have made of a keychain's lock.
package enum LockState: Int64, CaseIterable, Sendable {
    /// The enclave has started and no passcode came yet: classes A and C are closed.
    case beforeFirstUnlock = 0
    case locked = 1
    case unlocked = 2
    /// The stored state cannot be read; everything is refused, and a warning says why.
    case unreadable = 3
}
