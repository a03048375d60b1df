public import Foundation

/// One entry of `NSExceptionDomains`.
public struct DomainException: Sendable, Equatable {
    /// Whether the entry also holds for all names below the domain (`NSIncludesSubdomains`).
    public var includesSubdomains = false
    /// Whether plain HTTP is allowed (`NSExceptionAllowsInsecureHTTPLoads`).
    public var allowsInsecureHTTPLoads = false
    /// The oldest version of TLS that is allowed (`NSExceptionMinimumTLSVersion`).
    public var minimumVersion = TransportVersion.tls12
    /// Whether only cipher suites with forward secrecy are offered (`NSExceptionRequiresForwardSecrecy`).
    public var requiresForwardSecrecy = true

    /// Creates an entry with every requirement, for the domain alone.
    public init() {}

    /// An entry with every requirement for a domain and all names below it.
    static let strict: DomainException = {
        var exception = DomainException()
        exception.includesSubdomains = true
        return exception
    }()
}

/// One entry of `NSPinnedDomains`: digests of the public keys that a chain must have. Without a digest no chain matches.
public struct PinnedDomain: Sendable, Equatable {
    /// Whether the entry also holds for names below the domain (`NSIncludesSubdomains`).
    public var includesSubdomains = false
    /// SHA-256 digests of subject public key infos, of which the server's own certificate must have one. Nil if the key is absent.
    public var leafIdentities: Set<Data>?
    /// As `leafIdentities`, for the certificates of authorities in the chain, of which one must match.
    public var authorityIdentities: Set<Data>?

    /// Creates an entry without digests, which no chain matches.
    public init() {}

    /// An entry that no chain of a domain, or of a name below it, can match.
    static let withoutMatch: PinnedDomain = {
        var pinned = PinnedDomain()
        pinned.includesSubdomains = true
        pinned.leafIdentities = []
        pinned.authorityIdentities = []
        return pinned
    }()
}
