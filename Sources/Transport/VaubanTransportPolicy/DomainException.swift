public import Foundation

/// One entry of `NSExceptionDomains`.
public struct DomainException: Sendable, Equatable {
    public var includesSubdomains = false
    public var allowsInsecureHTTPLoads = false
    public var minimumVersion = TransportVersion.tls12
    public var requiresForwardSecrecy = true

    public init() {}
}

/// One entry of `NSPinnedDomains`: digests of the public keys that a chain must have.
public struct PinnedDomain: Sendable, Equatable {
    public var includesSubdomains = false
    /// SHA-256 digests of subject public key infos, of which the server's own certificate must have one. Nil if the key is absent.
    public var leafIdentities: Set<Data>?
    /// The same for the certificates of authorities in the chain, of which one must match.
    public var authorityIdentities: Set<Data>?

    public init() {}
}
