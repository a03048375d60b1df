// The keys of PKCS #12 import.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

// MARK: Options.

/// The passphrase of the file, a string, which may be empty.
nonisolated(unsafe) public let kSecImportExportPassphrase: CFString = "passphrase"

/// The keychain to import to, in the file-based macOS keychain. Ignored here.
nonisolated(unsafe) public let kSecImportExportKeychain: CFString = "keychain"

/// The access object of imported items, in the file-based macOS keychain. Ignored here.
nonisolated(unsafe) public let kSecImportExportAccess: CFString = "access"

/// Whether to import to memory only, which is always so here.
nonisolated(unsafe) public let kSecImportToMemoryOnly: CFString = "memory"

// MARK: Results.

/// The label of the identity, a string: the name in the file, or the summary of the certificate.
nonisolated(unsafe) public let kSecImportItemLabel: CFString = "label"

/// The identifier of the key, data: the SHA-1 digest of the public key, 20 bytes.
nonisolated(unsafe) public let kSecImportItemKeyID: CFString = "keyid"

/// A `SecTrust` with the certificates and the basic policy.
nonisolated(unsafe) public let kSecImportItemTrust: CFString = "trust"

/// An array of `SecCertificate`, the chain from the identity's certificate on.
nonisolated(unsafe) public let kSecImportItemCertChain: CFString = "chain"

/// The `SecIdentity`.
nonisolated(unsafe) public let kSecImportItemIdentity: CFString = "identity"
