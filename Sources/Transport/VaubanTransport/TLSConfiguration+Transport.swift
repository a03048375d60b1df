#if Transport
public import NIOSSL
public import VaubanTransportPolicy

extension TLSConfiguration {
    /// Returns a client's configuration with the version and the suites of the requirements, and BoringSSL's verification.
    ///
    /// Sizes of keys, hashes and pins are not part of a configuration: `NIOSSLClientHandler.secure` and `HTTPClient.secure` check them.
    public static func secure(_ requirements: TransportRequirements, trust: TransportTrust = .system) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion =
            switch requirements.minimumVersion {
            case .tls10: .tlsv1
            case .tls11: .tlsv11
            case .tls12: .tlsv12
            case .tls13: .tlsv13
            }
        configuration.cipherSuiteValues = requirements.cipherSuites.map { NIOTLSCipher(rawValue: $0) }
        configuration.certificateVerification = .fullVerification
        configuration.additionalTrustRoots = [.certificates(trust.added)]
        return configuration
    }
}
#endif
