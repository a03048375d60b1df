// The values of attributes that say when and where an item may be used.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

// MARK: Values of `kSecAttrAccessible`.

/// Only while the device is unlocked.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"

/// From the first unlock after a start until the next start.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"

/// At any time. Apple advises against it.
nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk"

/// Only while the device is unlocked, has a passcode, and on this device alone. Removing the
/// passcode destroys the item.
nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"

/// Only while the device is unlocked, and on this device alone.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"

/// From the first unlock until the next start, and on this device alone.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"

/// At any time, and on this device alone. Apple advises against it.
nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"

// MARK: Synchronization, tokens and groups.

/// The value of `kSecAttrSynchronizable` that finds items of both kinds.
nonisolated(unsafe) public let kSecAttrSynchronizableAny: CFString = "syna"

/// The value of `kSecAttrTokenID` for keys that the Secure Enclave holds.
nonisolated(unsafe) public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"

/// The access group of items that a hardware token offers.
nonisolated(unsafe) public let kSecAttrAccessGroupToken: CFString = "com.apple.token"
