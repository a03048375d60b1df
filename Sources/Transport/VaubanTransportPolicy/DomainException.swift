public import Foundation

/// One entry of `NSExceptionDomains`.
public struct DomainException: Sendable, Equatable {
    public var includesSubdomains = false
    public var allowsInsecureHTTPLoads = false
    public var minimumVersion = TransportVersion.tls12
    public var requiresForwardSecrecy = true

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
    public var includesSubdomains = false
    /// SHA-256 digests of subject public key infos, of which the server's own certificate must have one. Nil if the key is absent.
    public var leafIdentities: Set<Data>?
    /// As `leafIdentities`, for the certificates of authorities in the chain, of which one must match.
    public var authorityIdentities: Set<Data>?

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
