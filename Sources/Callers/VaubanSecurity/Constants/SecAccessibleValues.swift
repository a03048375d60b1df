// The values of attributes that say when and where an item is accessible.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

// MARK: Values of `kSecAttrAccessible`.

/// Only while the device is unlocked.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"

/// From the first unlock after the device starts until it restarts.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"

/// At any time. Deprecated by Apple.
nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk"

/// Only while the device is unlocked and has a passcode, on this device alone. Removing the passcode erases the item.
nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"

/// Only while the device is unlocked, and on this device alone.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"

/// From the first unlock after the device starts until it restarts, on this device alone.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"

/// At any time, on this device alone. Deprecated by Apple.
nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"

// MARK: Synchronization, tokens and groups.

/// The value of `kSecAttrSynchronizable` with which a query finds both synchronizable and other items.
nonisolated(unsafe) public let kSecAttrSynchronizableAny: CFString = "syna"

/// The value of `kSecAttrTokenID` for keys of the Secure Enclave.
nonisolated(unsafe) public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"

/// The access group of items on a hardware token.
nonisolated(unsafe) public let kSecAttrAccessGroupToken: CFString = "com.apple.token"
