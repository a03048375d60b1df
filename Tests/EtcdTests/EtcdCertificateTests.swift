import Testing
import VaubanEtcd

/// What certificates that are not accepted mean for a request (Specs/sync.md, "The carrier").
@Suite struct EtcdCertificateTests {
    private static let endpoints = ["https://a.example:2379", "https://b.example:2379", "https://c.example:2379"]
    /// Days since 1970, in seconds.
    private static func day(_ number: Int64) -> Int64 { number * 86400 }
    private static let period = AccountValidity.Period(first: day(20_000), last: day(20_825))
    private static let decade = AccountValidity.Period(first: day(20_000), last: day(23_650))
    private static let unreachable = EtcdError(.unreachable, "is not reached")
    private static let untrusted = EtcdError(handshake: text("CERTIFICATE_VERIFY_FAILED"))
    private static let refused = EtcdError(connection: text("SSLV3_ALERT_BAD_CERTIFICATE"))

    /// What NIOSSL says of an error of BoringSSL.
    private static func text(_ reason: String) -> String {
        "sslError([Error: 268436498 error:10000412:SSL routines:OPENSSL_internal:\(reason) at /src/CNIOBoringSSL/ssl/tls_record.cc:491])"
    }

    private func faults(
        _ faults: [EtcdError], certificate: AccountValidity.Period = period, authority: AccountValidity.Period = decade
    ) throws -> EtcdFaults {
        let account = try EtcdAccount("user anna\n" + Self.endpoints.map { "endpoint \($0)\n" }.joined())
        var all = EtcdFaults(of: account, AccountValidity(certificates: [certificate], authorities: [authority]))
        for (endpoint, fault) in zip(account.endpoints, faults) { all.note(fault, at: endpoint) }
        return all
    }

    @Test(
        "An alert about the account's certificate counts as the node's only after the handshake, in which anyone can send one",
        arguments: [
            ("SSLV3_ALERT_BAD_CERTIFICATE", ""), ("SSLV3_ALERT_CERTIFICATE_EXPIRED", "has expired or is not valid yet"),
            ("SSLV3_ALERT_CERTIFICATE_REVOKED", "was revoked"), ("SSLV3_ALERT_CERTIFICATE_UNKNOWN", ""),
            ("SSLV3_ALERT_UNSUPPORTED_CERTIFICATE", "unsupported"), ("TLSV1_ALERT_UNKNOWN_CA", "another authority"),
            ("TLSV1_ALERT_ACCESS_DENIED", ""), ("TLSV1_ALERT_CERTIFICATE_REQUIRED", ""),
        ]) func alertsAboutCertificates(_ reason: String, _ why: String)
    {
        let (early, late) = (EtcdError(handshake: Self.text(reason)), EtcdError(connection: Self.text(reason)))
        #expect(early.kind == .certificate && late.kind == .accountCertificate && early.text == late.text && late.mayPass)
        #expect(late.text.hasPrefix("refuses certificate.pem of the account") && late.text.contains(why))
    }

    @Test("A node's certificate that BoringSSL does not verify, or of another host, is at fault, and another node may serve")
    func certificatesOfNodes() {
        for fault in [Self.untrusted, .otherHost] { #expect(fault.kind == .certificate && fault.mayPass) }
        #expect(Self.untrusted.text.contains("ca.pem") && EtcdError.otherHost.text.contains("another host"))
    }

    @Test(
        "Every other failure of TLS may pass",
        arguments: [
            "WRONG_VERSION_NUMBER", "SSLV3_ALERT_HANDSHAKE_FAILURE", "TLSV1_ALERT_INTERNAL_ERROR", "TLSV1_ALERT_DECRYPT_ERROR",
            "TLSV1_ALERT_BAD_CERTIFICATE_STATUS_RESPONSE", "TLSV1_ALERT_BAD_CERTIFICATE_HASH_VALUE", "EOF during handshake", "",
        ]) func otherFailures(_ reason: String)
    {
        let (early, late) = (EtcdError(handshake: Self.text(reason)), EtcdError(connection: Self.text(reason)))
        #expect(early.kind == .unreachable && late.kind == .unreachable)
    }

    @Test("A certificate is the fault if no node got further; with a node that is busy or no etcd, trying again may help")
    func faultOfAllNodes() throws {
        let now = Self.day(20_100)
        let kinds: [([EtcdError], EtcdError.Kind)] = [
            ([Self.unreachable, Self.unreachable, .garbage], .unreachable),
            ([Self.untrusted, Self.unreachable, Self.unreachable], .certificate),
            ([Self.untrusted, .otherHost, Self.unreachable], .certificate),
            ([Self.untrusted, Self.refused, Self.unreachable], .accountCertificate),
            ([Self.refused, EtcdError(.busy, "cannot answer now"), Self.unreachable], .unreachable),
            ([Self.untrusted, EtcdError(.unauthenticated, "does not accept the token"), Self.untrusted], .unreachable),
            ([Self.untrusted, .garbage, Self.untrusted], .unreachable),
        ]
        for (found, kind) in kinds {
            let fault = try faults(found).fault(at: now)
            #expect(fault.kind == kind && fault.text.contains("try again later") == (kind == .unreachable))
            // Each node is named with its own fault, in the order of the account.
            let nodes = zip(Self.endpoints, found).map { "\($0) \($1.text)" }.joined(separator: "; ")
            #expect(fault.text.hasSuffix(nodes), "\(fault.text)")
        }
    }

    @Test("An account that has expired is named with its date, once a certificate is refused; a date that is too early may be corrected")
    func dates() throws {
        let found = [Self.untrusted, Self.unreachable, Self.unreachable]
        func fault(at now: Int64, authority: AccountValidity.Period = Self.decade, _ found: [EtcdError]) throws -> EtcdError {
            try faults(found, authority: authority).fault(at: now)
        }
        for now in [Self.period.first, Self.period.last] { #expect(try fault(at: now, found).kind == .certificate) }
        let late = try fault(at: Self.period.last + 1, found)
        #expect(late.kind == .accountCertificate && late.text.hasPrefix("certificate.pem of the account in etcd expired on 2027-01-07."))
        #expect(late.text.contains("Install/etcd/add-user") && late.text.contains("date of this device, 2027-01-07"))
        let early = try fault(at: Self.period.first - 1, found)
        #expect(early.kind == .unreachable && early.text.contains("date of this device, 2024-10-03; correct it"))
        let authority = AccountValidity.Period(first: Self.day(19_000), last: Self.day(20_500))
        let old = try fault(at: Self.day(20_600), authority: authority, found)
        #expect(old.kind == .certificate && old.text.hasPrefix("ca.pem of the account in etcd expired on 2026-02-16."))
        // If no node is reached, none has refused anything.
        for now in [Self.period.first - 1, Self.period.last + 1] {
            let fault = try fault(at: now, [Self.unreachable, Self.unreachable, Self.unreachable])
            #expect(fault.kind == .unreachable && fault.text.contains("try again later"))
        }
    }

    @Test("Of several certificates, all of the account's and one of the authorities' must be valid")
    func severalCertificates() {
        let (earlier, later) = (AccountValidity.Period(first: 100, last: 300), AccountValidity.Period(first: 200, last: 400))
        for both in [[earlier, later], [later, earlier]] {
            let validity = AccountValidity(certificates: both, authorities: both)
            #expect(validity?.certificate == AccountValidity.Period(first: 200, last: 300))
            #expect(validity?.authority == AccountValidity.Period(first: 100, last: 400))
        }
        #expect(AccountValidity(certificates: [], authorities: [Self.period]) == nil)
        #expect(AccountValidity(certificates: [Self.period], authorities: []) == nil)
    }

    @Test("A watch ends for certificates once every node was tried, and none of them was confirmed since")
    func lastingFaults() throws {
        let now = Self.day(20_100)
        #expect(try faults([Self.untrusted, Self.refused]).lastingFault(at: now) == nil)
        var all = try faults([Self.untrusted, Self.unreachable, Self.unreachable])
        #expect(all.lastingFault(at: now)?.kind == .certificate)
        #expect(all.lastingFault(at: Self.period.first - 1) == nil)
        all.note(EtcdError(.busy, "knows no leader"), at: try EtcdEndpoint(Self.endpoints[1]))
        #expect(all.lastingFault(at: now) == nil)
        all.note(Self.refused, at: try EtcdEndpoint(Self.endpoints[1]))
        #expect(all.lastingFault(at: now)?.kind == .accountCertificate)
        all.forget()
        #expect(all.lastingFault(at: now) == nil)
        #expect(try faults([Self.unreachable, Self.unreachable, Self.unreachable]).lastingFault(at: now) == nil)
    }
}
