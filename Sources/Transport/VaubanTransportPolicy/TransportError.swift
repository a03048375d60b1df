public import Foundation

/// A connection or request that the rules refuse. The fault is in the server, or in the application that requested it without TLS.
public struct TransportError: Error, Sendable, Equatable {
    /// The rule that was broken. `vauban ats` prints its raw value.
    public enum Rule: String, Sendable, CaseIterable {
        /// Plain HTTP needs an exception.
        case insecureHTTP = "insecure-http"
        /// No host can have this name.
        case invalidHost = "invalid-host"
        /// The server offers no version of TLS that is allowed.
        case minimumVersion = "minimum-version"
        /// The server offers no cipher suite that is allowed.
        case cipherSuite = "cipher-suite"
        /// A key in the chain is too short.
        case keySize = "key-size"
        /// The server's certificate is signed with a weak hash.
        case leafHash = "leaf-hash"
        /// An authority's certificate is signed with a weak hash.
        case chainHash = "chain-hash"
        /// The chain leads to no trusted authority, or is not for servers.
        case trust
        /// A certificate is not valid now.
        case expired
        /// The certificate is for another host.
        case host
        /// The chain has no pinned key.
        case pin
    }

    /// The rule that was broken.
    public let rule: Rule
    /// The host of the connection.
    public let host: String
    /// What was found at the server, for display; programs should not parse it.
    public let detail: String

    /// Creates an error, for tests and for a client of your own.
    public init(rule: Rule, host: String, detail: String = "") {
        self.rule = rule
        self.host = host
        self.detail = detail
    }

    /// The code in Apple's `NSURLErrorDomain`.
    public var urlErrorCode: Int {
        switch rule {
        case .insecureHTTP: -1022
        case .invalidHost: -1000
        case .minimumVersion, .cipherSuite, .keySize, .leafHash, .chainHash: -1200
        case .expired: -1201
        case .trust, .host, .pin: -1202
        }
    }

    /// The status of Apple's Secure Transport (`errSSLATS…`).
    public var secureTransportStatus: Int32 {
        switch rule {
        case .insecureHTTP, .invalidHost: -9880
        case .minimumVersion: -9881
        case .cipherSuite: -9882
        case .keySize: -9883
        case .leafHash: -9884
        case .chainHash: -9885
        case .trust, .expired, .host, .pin: -9886
        }
    }

    /// The exception in `NSExceptionDomains` that would allow it, or nil if none does.
    public var exception: String? {
        switch rule {
        case .insecureHTTP, .leafHash, .chainHash: "NSExceptionAllowsInsecureHTTPLoads"
        case .minimumVersion: "NSExceptionMinimumTLSVersion"
        case .cipherSuite, .keySize: "NSExceptionRequiresForwardSecrecy"
        case .invalidHost, .trust, .expired, .host, .pin: nil
        }
    }
}

extension TransportError: CustomStringConvertible, LocalizedError {
    /// What was refused, why, and what to do: sentences for a log.
    public var description: String {
        let found = detail.isEmpty ? "" : " (\(detail))"
        return "App Transport Security refused \(host): \(sentence)\(found). \(wayOut)"
    }

    /// The same text.
    public var errorDescription: String? { description }

    private var sentence: String {
        switch rule {
        case .insecureHTTP: "plain HTTP is not encrypted"
        case .invalidHost: "the host has characters that no name of a host has"
        case .minimumVersion: "the server offers no version of TLS that is allowed"
        case .cipherSuite: "the server offers no cipher suite with forward secrecy and AES-GCM or ChaCha20-Poly1305"
        case .keySize: "a key in its certificates has fewer than 2048 bits for RSA or 256 for elliptic curves"
        case .leafHash: "its certificate is signed with a hash weaker than SHA-256"
        case .chainHash: "a certificate of its chain is signed with a hash weaker than SHA-256"
        case .trust: "its certificates do not lead to an authority that this system trusts, or are not for servers"
        case .expired: "a certificate of its chain has expired or is not yet valid"
        case .host: "its certificate is for another host"
        case .pin: "its certificates have none of the keys that NSPinnedDomains requires"
        }
    }

    private var wayOut: String {
        switch rule {
        case .insecureHTTP, .leafHash, .chainHash, .cipherSuite, .keySize, .minimumVersion:
            "\(exception ?? "") for \(host) in NSExceptionDomains would allow it; better is a server that needs no exception."
        case .invalidHost: "No exception allows it; names have letters, digits, hyphens and underscores, between single dots."
        case .trust: "No exception allows it; add the authority to the system's store, or have it issue a certificate for servers."
        case .expired: "No exception allows it; the server needs a new certificate, or this machine's clock is wrong."
        case .host: "No exception allows it; use a name that the certificate has."
        case .pin: "No exception allows it; the pins are out of date, or this is another server."
        }
    }
}
