// The classes of keychain items.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

/// The key for the class of an item.
nonisolated(unsafe) public let kSecClass: CFString = "class"

/// A password or other secret, identified by account and service.
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp"

/// A password for a server, identified by server, account, protocol, port and path, among others.
nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet"

/// An X.509 certificate.
nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert"

/// A cryptographic key.
nonisolated(unsafe) public let kSecClassKey: CFString = "keys"

/// A private key together with its certificate. Nothing is stored in this class; a search joins the two.
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"
