// The keys for what a call returns, and those for an item's values.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

// MARK: What to return.

/// Whether to return the secret data.
nonisolated(unsafe) public let kSecReturnData: CFString = "r_Data"

/// Whether to return the attributes, as a dictionary.
nonisolated(unsafe) public let kSecReturnAttributes: CFString = "r_Attributes"

/// Whether to return a reference, such as a `SecKey`.
nonisolated(unsafe) public let kSecReturnRef: CFString = "r_Ref"

/// Whether to return a persistent reference, as data.
nonisolated(unsafe) public let kSecReturnPersistentRef: CFString = "r_PersistentRef"

// MARK: Values of the item.

/// The secret data.
nonisolated(unsafe) public let kSecValueData: CFString = "v_Data"

/// A reference, such as a `SecKey`.
nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref"

/// A persistent reference, as data.
nonisolated(unsafe) public let kSecValuePersistentRef: CFString = "v_PersistentRef"

/// The password in the result of a request for shared web credentials.
nonisolated(unsafe) public let kSecSharedPassword: CFString = "spwd"
