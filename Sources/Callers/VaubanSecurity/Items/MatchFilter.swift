// Match keys that are judged on what was found, since only a certificate or a server's name says whether it fits
// (Specs/secitem.md, 5.1). The limit is applied after them.

internal import VaubanKeychainModel
internal import VaubanRefusal

struct MatchFilter {
    private enum Condition {
        /// The address that a certificate must name. In spite of the key's name one that names none does not match.
        case email(String)
        /// Normalized names of which one must have issued it.
        case issuers([[UInt8]])
        case validOn(Date)
        /// The host that the item's server is, or that it lies under.
        case host(String)
    }

    private var conditions: [Condition] = []
    var isEmpty: Bool { conditions.isEmpty }
    /// Whether a certificate's bytes are needed to judge.
    var needsCertificate: Bool {
        conditions.contains { condition in
            if case .host = condition { false } else { true }
        }
    }

    /// Takes a match key for the class that is searched; unknown keys, and those that Apple's keychain ignores, mean nothing.
    mutating func take(_ name: String, _ value: AnyObject, for kind: ItemKind) throws {
        let isOfCertificates = kind == .certificate || kind == .identity
        switch NSString(string: name) {
        case kSecMatchPolicy, kSecMatchIssuers:
            guard isOfCertificates else { throw Refusal(.unsupported, "\(name) is for certificates and identities") }
            guard name != kSecMatchPolicy as String else { throw Refusal(.unsupported, "trust policies are not evaluated here") }
            let names = (value as? [Any] ?? []).compactMap { $0 as? Data }.compactMap { NormalizedName(sequence: [UInt8]($0))?.content }
            // What is no list of names is ignored.
            if !names.isEmpty { conditions.append(.issuers(names)) }
        case kSecMatchEmailAddressIfPresent:
            guard let address = value as? String else { throw Refusal(.badParameter, "the e-mail address is not a string") }
            if isOfCertificates { conditions.append(.email(address)) }
        case kSecMatchValidOnDate:
            guard value is NSNull || value is Date else { throw Refusal(.badParameter, "the date is not a date") }
            if isOfCertificates { conditions.append(.validOn(value as? Date ?? Date())) }
        case kSecMatchTrustedOnly:
            guard let wanted = value as? Bool else { throw Refusal(.badParameter, "kSecMatchTrustedOnly takes a Boolean") }
            if isOfCertificates, wanted { throw Refusal(.unsupported, "trust is not evaluated here") }
        case kSecMatchHostOrSubdomainOfHost:
            guard let host = value as? String else { throw Refusal(.badParameter, "the host is not a string") }
            guard kind == .internetPassword else { throw Refusal(.unsupported, "\(name) is for internet passwords") }
            conditions.append(.host(host))
        default: break
        }
    }

    func matches(_ record: ItemRecord?, _ certificate: SecCertificate?, issuers: (SecCertificate) -> [SecCertificate]) -> Bool {
        conditions.allSatisfy { condition in
            switch condition {
            case .email(let address):
                certificate?.emailAddresses.contains { $0.caseInsensitiveCompare(address) == .orderedSame } ?? false
            case .issuers(let names):
                certificate.map { Self.chain(of: $0, issuers).contains { names.contains($0) } } ?? false
            case .validOn(let date):
                certificate.map { $0.fields.notBefore <= date && date <= $0.fields.notAfter } ?? false
            case .host(let host):
                // A server that was stored as data matches no host.
                if case .text(let server)? = record?.attributes[.server] { server == host || server.hasSuffix(".\(host)") } else { false }
            }
        }
    }

    /// The names of the issuers of a certificate, as far as their certificates are in the keychain, ten at most.
    private static func chain(of certificate: SecCertificate, _ issuers: (SecCertificate) -> [SecCertificate]) -> [[UInt8]] {
        var names = [certificate.normalizedIssuer]
        var current = certificate
        while names.count < 10, current.normalizedIssuer != current.normalizedSubject, let next = issuers(current).first {
            names.append(next.normalizedIssuer)
            current = next
        }
        return names
    }
}
