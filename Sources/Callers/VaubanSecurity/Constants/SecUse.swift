// The keys that say how a call works.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

// MARK: Where to look.

/// The items to work on, instead of a search.
nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"

/// The keychain to add to, in the older macOS keychain.
nonisolated(unsafe) public let kSecUseKeychain: CFString = "u_Keychain"

/// The keychains to search. Apple withdrew the key; sources still name it in messages.
nonisolated(unsafe) public let kSecUseKeychainList: CFString = "u_KeychainList"

/// Whether macOS uses the data-protection keychain, the only one here.
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"

/// Whether a television stores the item for all of its users.
nonisolated(unsafe) public let kSecUseUserIndependentKeychain: CFString = "u_UserIndependentKeychain"

// MARK: How to ask the user.

/// The reason to show to the user. Apple prefers the `localizedReason` of a context.
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"

/// Whether asking the user is forbidden. Apple prefers `kSecUseAuthenticationUI`.
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"

/// Whether the user may be asked. The values are the three constants below.
nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI"

/// The user may be asked. This is the default.
nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"

/// The call fails with `errSecInteractionNotAllowed` where the user would be asked.
nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"

/// Items for which the user would be asked are left out.
nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"

/// An `LAContext` in which the user may already have authenticated.
nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
