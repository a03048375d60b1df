import Foundation
import Testing
import VaubanTransportPolicy

/// What `NSPinnedDomains` requires. No mistake in it may have the same effect as no pin.
@Suite struct PinTests {
    /// A certificate for a key of P-256, signed with SHA-256 by that key.
    private static let certificate = """
        MIIBITCByQIUQzHWQ6PJqbD2lCLDVVdBkw9lmk8wCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJYS5leGFtcGxlMB4XDTI2MTEyODIzNDIwNVoXDTM2MTEyNTIz
        NDIwNVowFDESMBAGA1UEAwwJYS5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEGo7K+tkaXeZjSb/0vm3FuiL/nRC/iWrVNRCzHlzL0CM0wlK/
        Zre8OmR0dlN85VcOTsKTv2UohkkfTY+1HwSiWzAKBggqhkjOPQQDAgNHADBEAiA0x3I5k7LVbLA/fpvsQY+Vte6ZMCUlvyvebrz0idoIpAIgI+AAkoP+yHLg
        31ZTCrzi3g+G+G/eXOnt3yYg9O5nlkQ=
        """

    private static func facts() throws -> CertificateFacts {
        try CertificateFacts(certificate: try #require(Data(base64Encoded: certificate, options: .ignoreUnknownCharacters)))
    }

    private static func identities(_ digest: Data) -> [[String: String]] { [["SPKI-SHA256-BASE64": digest.base64EncodedString()]] }

    private static func configuration(_ pins: Any) throws -> TransportConfiguration {
        let root = ["NSAppTransportSecurity": ["NSPinnedDomains": pins]]
        return try TransportConfiguration(propertyList: PropertyListSerialization.data(fromPropertyList: root, format: .xml, options: 0))
    }

    /// Returns the rule that refuses the certificate for a host, or nil if it is accepted.
    private static func refusal(of host: String, _ configuration: TransportConfiguration) throws -> TransportError.Rule? {
        let chain = [try facts()]
        let requirements = TransportRequirements(host: host, port: 443, configuration: configuration)
        do throws(TransportError) {
            try requirements.check(chain: chain)
            return nil
        } catch {
            return error.rule
        }
    }

    @Test("A pinned key is accepted, another one is not, and other hosts have no pins") func pinnedKeys() throws {
        let own = Self.identities(try Self.facts().keyDigest), other = Self.identities(Data(repeating: 7, count: 32))
        for (identities, rule) in [(own, nil), (other, .pin), (own + other, nil)] as [([[String: String]], TransportError.Rule?)] {
            let found = try Self.configuration(["a.example": ["NSPinnedLeafIdentities": identities]])
            #expect(found.findings == [])
            #expect(try Self.refusal(of: "a.example", found) == rule)
            #expect(try Self.refusal(of: "b.example", found) == nil)
        }
        // The certificate is the server's own, and no authority's.
        let authority = try Self.configuration(["a.example": ["NSPinnedCAIdentities": own]])
        #expect(try Self.refusal(of: "a.example", authority) == .pin)
    }

    @Test("A list of identities that is broken matches nothing, instead of pinning nothing") func brokenLists() throws {
        let broken: [Any] = ["text", [["SPKI-SHA256-BASE64": "AAAA"]], [["SPKI-SHA256-BASE64": 5]], [5], [] as [Any], true]
        for key in ["NSPinnedLeafIdentities", "NSPinnedCAIdentities"] {
            for value in broken {
                let found = try Self.configuration(["a.example": [key: value]])
                let pins = try #require(found.pins["a.example"])
                #expect((key == "NSPinnedLeafIdentities" ? pins.leafIdentities : pins.authorityIdentities) == [])
                #expect(try Self.refusal(of: "a.example", found) == .pin)
            }
        }
    }

    @Test("An entry that is not a dictionary, or has no list, matches nothing") func brokenEntries() throws {
        let broken: [Any] = ["text", 5, true, [] as [Any], [:] as [String: Any], ["NSPinnedLeafIdentity": [] as [Any]]]
        for value in broken {
            let found = try Self.configuration(["a.example": value])
            #expect(found.findings.contains { $0.contains("a.example") && $0.contains("no certificate matches it") }, "\(value)")
            #expect(try Self.refusal(of: "a.example", found) == .pin, "\(value)")
            #expect(try Self.refusal(of: "b.example", found) == nil)
        }
        // Names below it may have been meant too.
        #expect(try Self.refusal(of: "www.a.example", Self.configuration(["a.example": "text"])) == .pin)
        var inCode = TransportConfiguration()
        inCode.pins["a.example"] = PinnedDomain()
        #expect(try Self.refusal(of: "a.example", inCode) == .pin)
    }

    @Test("A pin whose NSIncludesSubdomains is not a Boolean also applies to the names below it") func unclearSubdomains() throws {
        let other = Self.identities(Data(repeating: 7, count: 32))
        for value in ["YES", "NO", 1, [] as [Any]] as [Any] {
            let entry: [String: Any] = ["NSIncludesSubdomains": value, "NSPinnedLeafIdentities": other]
            let found = try Self.configuration(["a.example": entry])
            #expect(found.findings.contains { $0.contains("NSIncludesSubdomains") })
            #expect(try Self.refusal(of: "www.a.example", found) == .pin)
        }
    }

    @Test("A pinned domain in upper case is that domain") func upperCase() throws {
        let own = Self.identities(try Self.facts().keyDigest), other = Self.identities(Data(repeating: 7, count: 32))
        let found = try Self.configuration(["A.Example": ["NSPinnedLeafIdentities": other], "B.EXAMPLE": ["NSPinnedLeafIdentities": own]])
        #expect(Set(found.pins.keys) == ["a.example", "b.example"])
        #expect(found.findings.count == 2 && found.findings.allSatisfy { $0.contains("counts as") })
        for host in ["a.example", "A.EXAMPLE", "A.Example."] { #expect(try Self.refusal(of: host, found) == .pin) }
        #expect(try Self.refusal(of: "b.example", found) == nil)
        // Choosing one of the two entries would be a guess.
        let twice = try Self.configuration(["A.Example": ["NSPinnedLeafIdentities": own], "a.example": ["NSPinnedLeafIdentities": own]])
        #expect(try Self.refusal(of: "a.example", twice) == .pin)
        let dotted = try Self.configuration(["a.example": ["NSPinnedLeafIdentities": own], "a.example.": ["NSPinnedLeafIdentities": own]])
        #expect(try Self.refusal(of: "a.example", dotted) == .pin)
        #expect(twice.findings.contains { $0.contains("more than once") })
    }

    @Test("Pins that are not a dictionary are an error, and do not count as none") func brokenContainer() throws {
        for value in ["text", 5, true, ["a.example"]] as [Any] {
            #expect(throws: TransportConfigurationError.wrongType(key: "NSPinnedDomains")) { try Self.configuration(value) }
        }
    }
}
