// The attributes of every item, and those of passwords.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

// MARK: Every item.

/// When the item is accessible: one of the `kSecAttrAccessible…` constants.
nonisolated(unsafe) public let kSecAttrAccessible: CFString = "pdmn"

/// The item's access control, a `SecAccessControl`, in place of `kSecAttrAccessible`.
nonisolated(unsafe) public let kSecAttrAccessControl: CFString = "accc"

/// The access object of the file-based macOS keychain, a `SecAccess`. Vauban accepts it in `SecItemAdd`.
nonisolated(unsafe) public let kSecAttrAccess: CFString = "acls"

/// The group of programs that share the item, a string. A group that is not the caller's is `errSecMissingEntitlement`.
nonisolated(unsafe) public let kSecAttrAccessGroup: CFString = "agrp"

/// Whether the item synchronizes with the user's other devices, a Boolean. A query without it finds only items that do not.
nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = "sync"

/// The view in which a synchronizable item travels.
nonisolated(unsafe) public let kSecAttrSyncViewHint: CFString = "vwht"

/// The token that holds the item, such as `kSecAttrTokenIDSecureEnclave`.
nonisolated(unsafe) public let kSecAttrTokenID: CFString = "tkid"

/// The persistent reference as an attribute, for Apple's own programs: `errSecParam` in a dictionary.
nonisolated(unsafe) public let kSecAttrPersistentReference: CFString = "persistref"

/// A misspelling of `kSecAttrPersistentReference` that Apple keeps for older sources.
nonisolated(unsafe) public let kSecAttrPersistantReference: CFString = "persistref"

/// The name shown to users.
nonisolated(unsafe) public let kSecAttrLabel: CFString = "labl"

/// When the item was added, a `Date`. The keychain sets it.
nonisolated(unsafe) public let kSecAttrCreationDate: CFString = "cdat"

/// When the item was last modified, a `Date`. The keychain sets it, and each change makes it later.
nonisolated(unsafe) public let kSecAttrModificationDate: CFString = "mdat"

// MARK: Passwords.

/// The kind of item, for users.
nonisolated(unsafe) public let kSecAttrDescription: CFString = "desc"

/// A comment for users.
nonisolated(unsafe) public let kSecAttrComment: CFString = "icmt"

/// The creator of the item, a number: a four-character code.
nonisolated(unsafe) public let kSecAttrCreator: CFString = "crtr"

/// The type of the item, a number: a four-character code.
nonisolated(unsafe) public let kSecAttrType: CFString = "type"

/// Whether the item is hidden from users: a Boolean, which is returned as the number 0 or 1.
nonisolated(unsafe) public let kSecAttrIsInvisible: CFString = "invi"

/// Whether the item marks a password that must not be stored: a Boolean, which is returned as the number 0 or 1.
nonisolated(unsafe) public let kSecAttrIsNegative: CFString = "nega"

/// The account that the password belongs to: a string or data, returned as it was stored.
nonisolated(unsafe) public let kSecAttrAccount: CFString = "acct"

/// The service that a generic password is for: a string or data, returned as it was stored.
nonisolated(unsafe) public let kSecAttrService: CFString = "svce"

/// Data of the application's choice in a generic password.
nonisolated(unsafe) public let kSecAttrGeneric: CFString = "gena"

/// The security domain of an Internet password.
nonisolated(unsafe) public let kSecAttrSecurityDomain: CFString = "sdmn"

/// The host name of the server.
nonisolated(unsafe) public let kSecAttrServer: CFString = "srvr"

/// The protocol of the server. The values are the `kSecAttrProtocol…` constants.
nonisolated(unsafe) public let kSecAttrProtocol: CFString = "ptcl"

/// How the server authenticates the user: one of the `kSecAttrAuthenticationType…` constants.
nonisolated(unsafe) public let kSecAttrAuthenticationType: CFString = "atyp"

/// The port of the server, a number.
nonisolated(unsafe) public let kSecAttrPort: CFString = "port"

/// The path on the server.
nonisolated(unsafe) public let kSecAttrPath: CFString = "path"
