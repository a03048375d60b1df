package import VaubanAccessPolicy
package import VaubanDER

/// Who signed the program of a caller, and as what (Specs/code-signing.md). The signature is valid; the team is not necessarily trusted.
///
/// `CodeSigner ::= SEQUENCE { team UTF8String, identifier UTF8String, entitlements [0] OCTET STRING (SIZE (1..8192)) OPTIONAL }`
package struct CodeSigner: Hashable, Sendable, DERReadable, DERWritable {
    package let team: TeamIdentifier
    package let identifier: String
    /// The property list in the signature, not parsed yet.
    package let entitlements: [UInt8]?

    package static let entitlementsBytesMax = 8192

    package init(team: TeamIdentifier, identifier: String, entitlements: [UInt8]? = nil) {
        self.team = team
        self.identifier = identifier
        self.entitlements = entitlements
    }

    /// The name of the program as an application, if its team is trusted.
    package var application: ApplicationIdentifier { .signed(by: team, as: identifier) }
    /// The program's own access group, which is also its name for websites.
    package var group: String { "\(team.prefix)\(identifier)" }

    package init(from fields: inout DERFields) throws {
        guard let team = TeamIdentifier(text: try fields.text("team", max: TeamIdentifier.length)) else {
            throw DERError("team is malformed")
        }
        self.team = team
        identifier = try fields.text("identifier", max: ApplicationIdentifier.programIdentifierBytesMax)
        guard ApplicationIdentifier.isProgramIdentifier(identifier) else { throw DERError("identifier is malformed") }
        entitlements = try fields.optionalOctets(0, "entitlements", in: 1...Self.entitlementsBytesMax)
        guard entitlements.map(CodeEntitlements.isXML) ?? true else { throw DERError("entitlements are malformed") }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.text(team.text)
            try fields.text(identifier)
            try fields.optionalOctets(0, entitlements)
        }
    }
}
