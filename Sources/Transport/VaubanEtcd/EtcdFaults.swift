import Glibc

/// When the certificates of an account are valid, in seconds since 1970.
package struct AccountValidity: Hashable, Sendable {
    package struct Period: Hashable, Sendable {
        package let first: Int64
        package let last: Int64

        package init(first: Int64, last: Int64) {
            self.first = first
            self.last = last
        }
    }

    /// When all certificates of certificate.pem are valid.
    package let certificate: Period
    /// From when until when ca.pem has a valid authority.
    package let authority: Period

    package init?(certificates: [Period], authorities: [Period]) {
        guard let first = certificates.map(\.first).max(), let last = certificates.map(\.last).min(),
            let begin = authorities.map(\.first).min(), let end = authorities.map(\.last).max()
        else { return nil }
        certificate = Period(first: first, last: last)
        authority = Period(first: begin, last: end)
    }
}

/// Why none of the nodes performed a request.
package struct EtcdFaults: Sendable {
    private let account: EtcdAccount
    private let validity: AccountValidity?
    private var found: [EtcdEndpoint: EtcdError] = [:]

    package init(of account: EtcdAccount, _ validity: AccountValidity?) {
        self.account = account
        self.validity = validity
    }

    /// Replaces an earlier fault of this node.
    package mutating func note(_ fault: EtcdError, at endpoint: EtcdEndpoint) { found[endpoint] = fault }

    package mutating func forget() { found = [:] }

    /// The fault of all nodes, a whole clause.
    /// - Parameter now: Seconds since 1970, by this device.
    package func fault(at now: Int64) -> EtcdError {
        if let fault = certificateFault(at: now) { return fault }
        return EtcdError(.unreachable, "No node of etcd can be used; try again later, or correct the file account: \(nodes)")
    }

    /// The fault of all nodes, a whole clause, if every node was tried, and trying again without other certificates is useless.
    package func lastingFault(at now: Int64) -> EtcdError? {
        guard found.count == account.endpoints.count, let fault = certificateFault(at: now), fault.kind != .unreachable else { return nil }
        return fault
    }

    /// The fault of the certificates, if no node got further than them; nodes that are not reached do not count.
    private func certificateFault(at now: Int64) -> EtcdError? {
        let kinds = Set(found.values.map(\.kind))
        let certificateKinds: Set<EtcdError.Kind> = [.certificate, .accountCertificate]
        guard kinds.isSubset(of: certificateKinds.union([.unreachable])), !kinds.isDisjoint(with: certificateKinds) else { return nil }
        if let fault = validity.flatMap({ dateFault($0, at: now) }) { return fault }
        if kinds.contains(.accountCertificate) {
            return EtcdError(.accountCertificate, "etcd does not accept the certificate of the account. \(Self.renewal): \(nodes)")
        }
        return EtcdError(
            .certificate,
            "A certificate keeps this device from etcd. Its operator must renew the node's (Install/etcd/start), or give you the account "
                + "again: \(nodes)")
    }

    /// The fault of the account's certificates, if they are not valid now.
    private func dateFault(_ validity: AccountValidity, at now: Int64) -> EtcdError? {
        let (certificate, authority) = (validity.certificate, validity.authority)
        // The date may be corrected soon, as on a device without a clock that has just started.
        if now < certificate.first || now < authority.first {
            let date = "the date of this device, \(Self.day(now))"
            return EtcdError(.unreachable, "The certificates for etcd are not valid yet by \(date); correct it: \(nodes)")
        }
        let today = "if the date of this device, \(Self.day(now)), is right"
        if now > authority.last {
            return EtcdError(
                .certificate,
                "ca.pem of the account in etcd expired on \(Self.day(authority.last)). Its operator must replace the authority and give "
                    + "you the account again, \(today): \(nodes)")
        }
        guard now > certificate.last else { return nil }
        return EtcdError(
            .accountCertificate,
            "certificate.pem of the account in etcd expired on \(Self.day(certificate.last)). \(Self.renewal), \(today): \(nodes)")
    }

    // The remedy comes first, since a long text is truncated.
    private static let renewal = "Its operator must renew the account (Install/etcd/add-user) and give it to you again"

    /// The nodes with their faults.
    private var nodes: String {
        account.endpoints.compactMap { endpoint in found[endpoint].map { "\(endpoint) \($0.text)" } }.joined(separator: "; ")
    }

    /// The date in Greenwich, as certificates state it.
    private static func day(_ seconds: Int64) -> String {
        var (time, date) = (time_t(seconds), tm())
        guard gmtime_r(&time, &date) != nil else { return "an unknown date" }
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%d", &date)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
