#if Transport
import NIOSSL
import VaubanTransportPolicy

extension TransportRequirements {
    /// Returns the rule behind a failed handshake where BoringSSL's reason names one, else the error itself.
    func handshakeError(_ error: any Error) -> any Error {
        if error is TransportError { return error }
        if let extra = error as? NIOSSLExtraError, extra == .failedToValidateHostname { return TransportError(rule: .host, host: host) }
        guard case .handshakeFailed(.sslError(let reasons)) = error as? NIOSSLError else { return error }
        let text = String(describing: reasons)
        let rule = Self.reasons.first { text.contains($0.reason) }?.rule
        return rule.map { TransportError(rule: $0, host: host) } ?? error
    }

    /// BoringSSL's names of reasons. A server without a common suite sends the general alert for a failed handshake.
    private static let reasons: [(reason: String, rule: TransportError.Rule)] = [
        ("UNSUPPORTED_PROTOCOL", .minimumVersion), ("TLSV1_ALERT_PROTOCOL_VERSION", .minimumVersion),
        ("WRONG_VERSION_NUMBER", .minimumVersion),
        ("SSLV3_ALERT_HANDSHAKE_FAILURE", .cipherSuite), ("TLSV1_ALERT_INSUFFICIENT_SECURITY", .cipherSuite),
        ("WRONG_CIPHER_RETURNED", .cipherSuite), ("UNKNOWN_CIPHER_RETURNED", .cipherSuite),
        ("CANNOT_PARSE_LEAF_CERT", .keySize), ("WRONG_CURVE", .keySize), ("BAD_ECC_CERT", .keySize),
        ("CERTIFICATE_VERIFY_FAILED", .trust),
    ]
}
#endif
