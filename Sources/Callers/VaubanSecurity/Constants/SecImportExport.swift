// The keys of PKCS #12 import.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

// MARK: Options.

/// The passphrase of the file.
nonisolated(unsafe) public let kSecImportExportPassphrase: CFString = "passphrase"

/// The keychain to import to, in the file-based macOS keychain. Ignored here.
nonisolated(unsafe) public let kSecImportExportKeychain: CFString = "keychain"

/// The access object of imported items, in the file-based macOS keychain. Ignored here.
nonisolated(unsafe) public let kSecImportExportAccess: CFString = "access"

/// Whether to import to memory only, which is always so here.
nonisolated(unsafe) public let kSecImportToMemoryOnly: CFString = "memory"

// MARK: Results.

/// The label of the identity.
nonisolated(unsafe) public let kSecImportItemLabel: CFString = "label"

/// The identifier of the key.
nonisolated(unsafe) public let kSecImportItemKeyID: CFString = "keyid"

/// The trust object, created with the certificate chain.
nonisolated(unsafe) public let kSecImportItemTrust: CFString = "trust"

/// The certificate chain.
nonisolated(unsafe) public let kSecImportItemCertChain: CFString = "chain"

/// The identity.
nonisolated(unsafe) public let kSecImportItemIdentity: CFString = "identity"
