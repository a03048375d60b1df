// The keys for how a call works.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

// MARK: Where to look.

/// The items to use instead of a search. `errSecParam` in every call, as in Apple's data protection keychain.
nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"

/// The keychain to add to, in the file-based macOS keychain. `errSecParam` in every call.
nonisolated(unsafe) public let kSecUseKeychain: CFString = "u_Keychain"

/// The keychains to search. Apple has withdrawn the key, though sources still name it; `errSecParam` in every call.
nonisolated(unsafe) public let kSecUseKeychainList: CFString = "u_KeychainList"

/// Whether macOS uses the data protection keychain, the only one here. Accepted and ignored.
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"

/// Whether tvOS stores the item for all of its users. `errSecParam` in every call.
nonisolated(unsafe) public let kSecUseUserIndependentKeychain: CFString = "u_UserIndependentKeychain"

// MARK: How to prompt the user.

/// The reason in the prompt, a string of at most 1024 bytes. Apple prefers a context's `localizedReason`.
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"

/// Whether prompts are forbidden. Apple prefers `kSecUseAuthenticationUI`.
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"

/// Whether the call may prompt: one of the three constants below.
nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI"

/// The call may prompt. This is the default.
nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"

/// The call fails with `errSecInteractionNotAllowed` instead of prompting.
nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"

/// The search omits items that would need a prompt. `errSecParam` in calls other than searches.
nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"

/// An `LAContext`, in which the user may already have authenticated.
nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
