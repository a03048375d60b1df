/// Faults of TLS. NIOSSL reports BoringSSL's reasons only as text that contains their names.
extension EtcdError {
    /// The node's certificate is valid, and of another host.
    package static let otherHost = EtcdError(.certificate, "shows the certificate of another host")

    /// Creates the fault of a handshake that failed. Until a handshake is complete, an alert may come from anyone.
    package init(handshake reasons: String) {
        let names = Self.names(in: reasons)
        if names.contains("CERTIFICATE_VERIFY_FAILED") {
            self.init(.certificate, "shows a certificate that has expired or is not valid yet, or that ca.pem of the account did not issue")
        } else if let refusal = Self.refusal(names) {
            self.init(.certificate, refusal)
        } else {
            self.init(.unreachable, "failed the TLS handshake")
        }
    }

    /// Creates the fault of a connection that failed after its handshake. TLS 1.3 lets a node judge the account's certificate only then.
    package init(connection reasons: String) {
        let refusal = Self.refusal(Self.names(in: reasons))
        self = refusal.map { EtcdError(.accountCertificate, $0) } ?? EtcdError(.unreachable, "broke the TLS connection")
    }

    private static func names(in reasons: String) -> Set<Substring> {
        Set(reasons.split { !($0.isASCII && ($0.isUppercase || $0.isNumber || $0 == "_")) })
    }

    private static func refusal(_ names: Set<Substring>) -> String? {
        alerts.first { names.contains($0.name) }.map { "refuses certificate.pem of the account\($0.why)" }
    }

    /// The alerts about a certificate. Servers in Go, such as etcd, do not distinguish certificates that have expired from those that are
    /// not valid yet; older ones say only that the certificate is bad.
    private static let alerts: [(name: Substring, why: String)] = [
        ("SSLV3_ALERT_BAD_CERTIFICATE", ""), ("SSLV3_ALERT_CERTIFICATE_UNKNOWN", ""), ("TLSV1_ALERT_ACCESS_DENIED", ""),
        ("TLSV1_ALERT_CERTIFICATE_REQUIRED", ""), ("SSLV3_ALERT_UNSUPPORTED_CERTIFICATE", ", which is of an unsupported kind"),
        ("SSLV3_ALERT_CERTIFICATE_REVOKED", ", which was revoked"),
        ("SSLV3_ALERT_CERTIFICATE_EXPIRED", ", which has expired or is not valid yet"),
        ("TLSV1_ALERT_UNKNOWN_CA", ", which another authority issued"),
    ]
}
