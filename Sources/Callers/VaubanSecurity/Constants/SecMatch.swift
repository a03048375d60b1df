// The keys that narrow a search. Several work only with the file-based macOS keychain.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

/// A `SecPolicy` that certificates must meet. `errSecUnimplemented` in a search: evaluate what was found with `SecTrust`.
nonisolated(unsafe) public let kSecMatchPolicy: CFString = "m_Policy"

/// A list of items to search instead of the keychain. Accepted and ignored, as in Apple's data protection keychain.
nonisolated(unsafe) public let kSecMatchItemList: CFString = "m_ItemList"

/// A list of keychains to search. Accepted and ignored, as in Apple's data protection keychain.
nonisolated(unsafe) public let kSecMatchSearchList: CFString = "m_SearchList"

/// An array of distinguished names in DER, as data, one of which must be an issuer in the certificate chain.
nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers"

/// An email address that the certificate must contain; a certificate without any does not match.
nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"

/// A string that the certificate's subject contains. Accepted and ignored, as in Apple's data protection keychain.
nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains"

/// A string with which the certificate's subject starts. Accepted and ignored, as in Apple's data protection keychain.
nonisolated(unsafe) public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"

/// A string with which the certificate's subject ends. Accepted and ignored, as in Apple's data protection keychain.
nonisolated(unsafe) public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"

/// The complete string of the certificate's subject. Accepted and ignored, as in Apple's data protection keychain.
nonisolated(unsafe) public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"

/// The name of a host, a string: the search finds Internet passwords for it and its subdomains.
nonisolated(unsafe) public let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"

/// Whether to ignore the case of letters. Accepted and ignored, as in Apple's data protection keychain.
nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"

/// Whether to ignore accents. Accepted and ignored, as in Apple's data protection keychain.
nonisolated(unsafe) public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"

/// Whether to ignore the width of characters. Accepted and ignored, as in Apple's data protection keychain.
nonisolated(unsafe) public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"

/// Whether to find only certificates with a trusted root. True is `errSecUnimplemented` for certificates and identities.
nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"

/// A `Date` on which the certificate must be valid, or `NSNull` for now.
nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"

// MARK: How many items.

/// The maximum number of items: a number from 1, or one of the two constants below. One if it is missing.
nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit"

/// The value of `kSecMatchLimit` for the first match alone.
nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne"

/// The value of `kSecMatchLimit` for every match.
nonisolated(unsafe) public let kSecMatchLimitAll: CFString = "m_LimitAll"
