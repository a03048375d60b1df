/// The requirements for a connection to one host: the result of the decision.
public struct TransportRequirements: Sendable, Equatable {
    /// The rule of Specs/transport.md that decided.
    public enum Basis: Sendable, Hashable {
        /// The requirements of every program without an exception.
        case standard
        /// The program declares an SDK older than transport security.
        case olderSDK
        /// The entry of `NSExceptionDomains` for this domain.
        case exception(domain: String)
        /// `NSAllowsLocalNetworking`.
        case localNetworking
        /// `NSAllowsArbitraryLoads`.
        case arbitraryLoads
        /// `NSAllowsArbitraryLoadsForMedia`.
        case arbitraryLoadsForMedia
        /// `NSAllowsArbitraryLoadsInWebContent`.
        case arbitraryLoadsInWebContent
    }

    /// The name in lower case, or the address in its usual form, without a zone.
    public let host: String
    /// The network interface in an IPv6 address.
    package let zone: String?
    /// Whether a host can have this name. Requests to others are refused.
    package let hasUsableHost: Bool
    /// The port of the connection.
    public let port: Int
    /// The rule that decided.
    public let basis: Basis
    /// Whether plain HTTP is refused.
    public let requiresTLS: Bool
    /// The oldest version of TLS that is allowed.
    public let minimumVersion: TransportVersion
    /// Whether only cipher suites with forward secrecy are offered.
    public let requiresForwardSecrecy: Bool
    /// Whether RSA keys must have at least 2048 bits, and elliptic-curve keys at least 256.
    public let requiresStrongKeys: Bool
    /// Whether certificates must be signed with SHA-256 or better.
    public let requiresStrongHash: Bool
    /// The pinned keys of the host; nil if there are none.
    public let pins: PinnedDomain?
    /// The entry of `NSPinnedDomains` that declares them.
    public let pinnedDomain: String?

    /// The suites to offer, by their IANA numbers, strongest first. TLS 1.3 suites are always offered and not listed here.
    public var cipherSuites: [UInt16] {
        var suites = Self.forwardSecretSuites
        if !requiresForwardSecrecy { suites += Self.staticKeySuites }
        // Versions before 1.2 have no other suites.
        if minimumVersion < .tls12 || !requiresForwardSecrecy { suites += Self.forwardSecretBlockSuites }
        if !requiresForwardSecrecy { suites += Self.staticKeyBlockSuites }
        return suites
    }

    /// ECDHE with AES-GCM or ChaCha20-Poly1305 (RFC 5289, RFC 7905).
    private static let forwardSecretSuites: [UInt16] = [0xC02C, 0xC02B, 0xCCA9, 0xC030, 0xC02F, 0xCCA8]
    /// RSA key exchange with AES-GCM (RFC 5288).
    private static let staticKeySuites: [UInt16] = [0x009D, 0x009C]
    /// ECDHE with AES-CBC and SHA-1 (RFC 8422).
    private static let forwardSecretBlockSuites: [UInt16] = [0xC00A, 0xC009, 0xC014, 0xC013]
    /// RSA key exchange with AES-CBC and SHA-1 (RFC 5246).
    private static let staticKeyBlockSuites: [UInt16] = [0x0035, 0x002F]
}
