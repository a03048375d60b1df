// The keys for what a call returns, and those for an item's values.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

// MARK: What to return.

/// Whether to return the value, as data; empty for an item without one.
nonisolated(unsafe) public let kSecReturnData: CFString = "r_Data"

/// Whether to return the attributes, as a dictionary. It contains those that identify an item even if the item was added without them:
/// as empty text or data, the number 0, or the reference date.
nonisolated(unsafe) public let kSecReturnAttributes: CFString = "r_Attributes"

/// Whether to return an object: a `SecKey`, `SecCertificate` or `SecIdentity`. Passwords have none.
nonisolated(unsafe) public let kSecReturnRef: CFString = "r_Ref"

/// Whether to return a persistent reference, 20 bytes of data that stay the same when the item is renamed.
nonisolated(unsafe) public let kSecReturnPersistentRef: CFString = "r_PersistentRef"

// MARK: Values of the item.

/// The value, as data; a string is `errSecParam`.
nonisolated(unsafe) public let kSecValueData: CFString = "v_Data"

/// An object: a `SecKey`, `SecCertificate` or `SecIdentity`.
nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref"

/// A persistent reference, as data. In a search no attribute may be combined with it.
nonisolated(unsafe) public let kSecValuePersistentRef: CFString = "v_PersistentRef"

/// The password in the result of a request for shared web credentials, a string.
nonisolated(unsafe) public let kSecSharedPassword: CFString = "spwd"
