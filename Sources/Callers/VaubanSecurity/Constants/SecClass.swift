// The classes of keychain items.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

/// The key whose value names the class of an item.
nonisolated(unsafe) public let kSecClass: CFString = "class"

/// A password or other secret, found by account and service.
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp"

/// A password for a server, found by server, account, protocol, port and path.
nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet"

/// An X.509 certificate.
nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert"

/// A cryptographic key.
nonisolated(unsafe) public let kSecClassKey: CFString = "keys"

/// A private key together with its certificate. Nothing is stored under this class; it joins the
/// two.
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"
