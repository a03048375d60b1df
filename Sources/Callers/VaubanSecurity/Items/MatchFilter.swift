// Match keys that are checked on the results, since only a parsed certificate or a server's name decides them (Specs/secitem.md, 5.1). The
// limit applies afterwards.

internal import VaubanKeychainModel
internal import VaubanRefusal

struct MatchFilter {
    private enum Condition {
        /// The address that a certificate must contain. Despite the key's name, a certificate without any does not match.
        case email(String)
        /// Normalized names, one of which must be an issuer of the certificate.
        case issuers([[UInt8]])
        case validOn(Date)
        /// The host that the item's server is, or is a subdomain of.
        case host(String)
    }

    private var conditions: [Condition] = []
    var isEmpty: Bool { conditions.isEmpty }
    /// Whether checking needs the certificate's bytes.
    var needsCertificate: Bool {
        conditions.contains { condition in
            if case .host = condition { false } else { true }
        }
    }

    /// Adds a match key for a class; ignores unknown keys and those that Apple's keychain ignores.
    mutating func take(_ name: String, _ value: AnyObject, for kind: ItemKind) throws {
        let isOfCertificates = kind == .certificate || kind == .identity
        switch NSString(string: name) {
        case kSecMatchPolicy, kSecMatchIssuers:
            guard isOfCertificates else { throw Refusal(.unsupported, "\(name) is for certificates and identities") }
            guard name != kSecMatchPolicy as String else { throw Refusal(.unsupported, "Searches do not evaluate trust policies") }
            let names = (value as? [Any] ?? []).compactMap { $0 as? Data }.compactMap { NormalizedName(sequence: [UInt8]($0))?.content }
            // Ignored unless it is a list of names.
            if !names.isEmpty { conditions.append(.issuers(names)) }
        case kSecMatchEmailAddressIfPresent:
            guard let address = value as? String else { throw Refusal(.badParameter, "The e-mail address is not a string") }
            if isOfCertificates { conditions.append(.email(address)) }
        case kSecMatchValidOnDate:
            guard value is NSNull || value is Date else { throw Refusal(.badParameter, "kSecMatchValidOnDate is not a date") }
            if isOfCertificates { conditions.append(.validOn(value as? Date ?? Date())) }
        case kSecMatchTrustedOnly:
            guard let wanted = value as? Bool else { throw Refusal(.badParameter, "kSecMatchTrustedOnly is not a Boolean") }
            if isOfCertificates, wanted { throw Refusal(.unsupported, "Searches do not evaluate trust") }
        case kSecMatchHostOrSubdomainOfHost:
            guard let host = value as? String else { throw Refusal(.badParameter, "The host is not a string") }
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
                // A server stored as data matches no host.
                if case .text(let server)? = record?.attributes[.server] { server == host || server.hasSuffix(".\(host)") } else { false }
            }
        }
    }

    /// Returns the names of a certificate's issuers as far as their certificates are in the keychain, at most ten.
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
