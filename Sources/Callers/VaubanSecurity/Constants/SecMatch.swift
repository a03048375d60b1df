// The keys that narrow a search. Several work only with the file-based macOS keychain.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

/// A policy that certificates must meet.
nonisolated(unsafe) public let kSecMatchPolicy: CFString = "m_Policy"

/// A list of items to search instead of the keychain.
nonisolated(unsafe) public let kSecMatchItemList: CFString = "m_ItemList"

/// A list of keychains to search.
nonisolated(unsafe) public let kSecMatchSearchList: CFString = "m_SearchList"

/// The issuers, one of which must be in the certificate chain.
nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers"

/// An email address that the certificate must contain; a certificate without any does not match.
nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"

/// A string that the certificate's subject contains.
nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains"

/// A string with which the certificate's subject starts.
nonisolated(unsafe) public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"

/// A string with which the certificate's subject ends.
nonisolated(unsafe) public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"

/// The complete string of the certificate's subject.
nonisolated(unsafe) public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"

/// A host: the search finds passwords for it and its subdomains.
nonisolated(unsafe) public let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"

/// Whether to ignore the case of letters.
nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"

/// Whether to ignore accents.
nonisolated(unsafe) public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"

/// Whether to ignore the width of characters.
nonisolated(unsafe) public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"

/// Whether to find only certificates with a trusted root.
nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"

/// A date on which the certificate must be valid.
nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"

// MARK: How many items.

/// The maximum number of items: a number or one of the two constants below.
nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit"

/// The value of `kSecMatchLimit` for the first match alone.
nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne"

/// The value of `kSecMatchLimit` for every match.
nonisolated(unsafe) public let kSecMatchLimitAll: CFString = "m_LimitAll"
