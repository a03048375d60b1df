// The request of keychaind to the fetcher, and the reply (Specs/associated-domains.md).

internal import VaubanAssociations
package import VaubanDER

/// Requests the applications that a website lists for its passwords.
///
/// `SiteListRequest ::= SEQUENCE { version INTEGER (1), host UTF8String (SIZE (1..253)) }`
package struct SiteListRequest: Hashable, Sendable, DERReadable, DERWritable {
    package static let version: Int64 = 1
    /// The whole host name, in lower case.
    package let host: String

    /// Returns nil if the text is not a valid host name of a site.
    package init?(host text: String) {
        guard let host = SiteName.host(text), host == text else { return nil }
        self.host = host
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(Self.version)
        guard let request = Self(host: try fields.text("host", max: SiteName.hostBytesMax)) else { throw DERError("host is no site's") }
        self = request
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(Self.version)
            try fields.text(host)
        }
    }
}

/// The reply: the list, or the reason why there is none.
///
/// `SiteListReply ::= SEQUENCE { version INTEGER (1), reply CHOICE { list [0] { ageSeconds INTEGER (0..1000000), applications SEQUENCE
/// (SIZE (0..200)) OF UTF8String (SIZE (3..255)) }, failed [1] { why UTF8String (SIZE (0..400)) } } }`
package enum SiteListReply: Hashable, Sendable, DERReadable, DERWritable {
    /// `ageSeconds` is the time since the list was fetched from the site.
    case list(applications: [String], ageSeconds: Int64)
    /// The rest of a sentence about the site. The fetcher composes it; it contains nothing that the site sent.
    case failed(String)

    package static let version: Int64 = 1
    package static let ageSecondsMax: Int64 = 1_000_000
    package static let whyBytesMax = 400

    package init(from fields: inout DERFields) throws {
        try fields.version(Self.version)
        let number = try fields.choice("reply")
        let reply: SiteListReply? = try fields.optional(number, "reply") { reply in
            switch number {
            case 0:
                let age = try reply.integer("age", in: 0...Self.ageSecondsMax)
                let applications = try reply.sequence("applications") { list in
                    var names: [String] = []
                    while !list.isEmpty {
                        guard names.count < AssociationFile.applicationsMax else { throw DERError("applications are too many") }
                        let name = try list.text("application", max: ApplicationName.bytesMax)
                        guard ApplicationName.isWellFormed(name) else { throw DERError("application is not TEAM.bundle") }
                        names.append(name)
                    }
                    return names
                }
                return .list(applications: applications, ageSeconds: age)
            case 1: return .failed(try reply.text("why", max: Self.whyBytesMax))
            default: throw DERError("reply is unknown")
            }
        }
        guard let reply else { throw DERError("reply is missing") }
        self = reply
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(Self.version)
            switch self {
            case .list(let applications, let age):
                try fields.tagged(0) { reply in
                    try reply.integer(age)
                    try reply.sequence { list in for name in applications { try list.text(name) } }
                }
            case .failed(let why): try fields.tagged(1) { try $0.text(why) }
            }
        }
    }
}
