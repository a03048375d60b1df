// The keys that narrow a search. Several are honoured only by the older macOS keychain.
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

/// The issuers of which one must stand in the certificate chain.
nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers"

/// A mail address that the certificate must carry; one that carries none at all does not match.
nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"

/// A text that the certificate's subject contains.
nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains"

/// A text that the certificate's subject starts with.
nonisolated(unsafe) public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"

/// A text that the certificate's subject ends with.
nonisolated(unsafe) public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"

/// The whole text of the certificate's subject.
nonisolated(unsafe) public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"

/// A host whose passwords, or those of its subdomains, are found.
nonisolated(unsafe) public let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"

/// Whether upper and lower case are the same.
nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"

/// Whether letters with and without accents are the same.
nonisolated(unsafe) public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"

/// Whether full-width and half-width characters are the same.
nonisolated(unsafe) public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"

/// Whether only certificates with a trusted root are found.
nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"

/// A date on which the certificate must be valid.
nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"

// MARK: How many items.

/// The greatest number of items to find: a number or one of the two constants below.
nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit"

/// The value of `kSecMatchLimit` for the first item alone.
nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne"

/// The value of `kSecMatchLimit` for every item.
nonisolated(unsafe) public let kSecMatchLimitAll: CFString = "m_LimitAll"
