import Foundation
import Testing
import VaubanTransportPolicy

/// Property lists as applications have them, and as they should not be.
@Suite struct PropertyListTests {
    private static func data(
        _ security: [String: Any], _ more: [String: Any] = [:], format: PropertyListSerialization.PropertyListFormat = .xml
    )
        throws -> Data
    {
        let root = more.merging(["NSAppTransportSecurity": security]) { $1 }
        return try PropertyListSerialization.data(fromPropertyList: root, format: format, options: 0)
    }

    private static func configuration(_ security: [String: Any], _ more: [String: Any] = [:]) throws -> TransportConfiguration {
        try TransportConfiguration(propertyList: data(security, more))
    }

    private static let digest = Data(repeating: 7, count: 32)

    @Test("Every key of Apple's is read, from XML and binary", arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func everyKey(format: PropertyListSerialization.PropertyListFormat) throws {
        let identity = [["SPKI-SHA256-BASE64": Self.digest.base64EncodedString()]]
        let found = try TransportConfiguration(
            propertyList: Self.data(
                [
                    "NSAllowsArbitraryLoads": true, "NSAllowsArbitraryLoadsForMedia": false, "NSAllowsArbitraryLoadsInWebContent": true,
                    "NSAllowsLocalNetworking": false,
                    "NSExceptionDomains": [
                        "example.com": [
                            "NSIncludesSubdomains": true, "NSExceptionAllowsInsecureHTTPLoads": true,
                            "NSExceptionMinimumTLSVersion": "TLSv1.1",
                            "NSExceptionRequiresForwardSecrecy": false,
                        ]
                    ],
                    "NSPinnedDomains": [
                        "pinned.example": [
                            "NSIncludesSubdomains": true, "NSPinnedLeafIdentities": identity, "NSPinnedCAIdentities": identity,
                        ]
                    ],
                ], ["DTSDKName": "macosx10.10", "CFBundleIdentifier": "app"], format: format))
        #expect(found.findings == [])
        #expect(found.allowsArbitraryLoads == true && found.allowsArbitraryLoadsForMedia == false)
        #expect(found.allowsArbitraryLoadsInWebContent == true && found.allowsLocalNetworking == false)
        let exception = try #require(found.exceptions["example.com"])
        #expect(exception.includesSubdomains && exception.allowsInsecureHTTPLoads && !exception.requiresForwardSecrecy)
        #expect(exception.minimumVersion == .tls11)
        let pins = try #require(found.pins["pinned.example"])
        #expect(pins.includesSubdomains && pins.leafIdentities == [Self.digest] && pins.authorityIdentities == [Self.digest])
        #expect(!found.sdk.enforcesTransportSecurity)
    }

    @Test(
        "Older names work, and today's take precedence",
        arguments: ["NSTemporaryException", "NSThirdPartyException", "NSTemporaryThirdPartyException"])
    func olderNames(prefix: String) throws {
        let found = try Self.configuration([
            "NSExceptionDomains": [
                "a.example": [prefix + "AllowsInsecureHTTPLoads": true, prefix + "MinimumTLSVersion": "TLSv1.0"],
                "b.example": [prefix + "AllowsInsecureHTTPLoads": true, "NSExceptionAllowsInsecureHTTPLoads": false],
            ]
        ])
        #expect(found.findings == [])
        #expect(found.exceptions["a.example"]?.allowsInsecureHTTPLoads == true && found.exceptions["a.example"]?.minimumVersion == .tls10)
        #expect(found.exceptions["b.example"]?.allowsInsecureHTTPLoads == false)
    }

    @Test("Unknown keys and wrong types are reported, and loosen nothing") func findings() throws {
        let found = try Self.configuration([
            "NSAllowsArbitraryLoads": "YES", "NSAllowsLocalNetworking": 1, "NSAllowsArbitraryLoad": true,
            "NSExceptionDomains": [
                "example.com": ["NSExceptionAllowsInsecureHTTPLoads": "true", "NSExceptionMinimumTLSVersion": "TLSv9", "NSInsecure": true],
                "Example.org": [:] as [String: Any], "*.example.net": [:] as [String: Any], "https://a.example": [:] as [String: Any],
                "ct.example": ["NSRequiresCertificateTransparency": true], "broken.example": 3,
            ] as [String: Any],
        ])
        // Present, which matters for both, and not true.
        #expect(found.allowsArbitraryLoads == false && found.allowsLocalNetworking == false)
        #expect(found.exceptions["example.com"] == DomainException())
        var everything = DomainException()
        everything.includesSubdomains = true
        #expect(found.exceptions["broken.example"] == everything)
        #expect(Set(found.exceptions.keys) == ["example.com", "example.org", "ct.example", "broken.example"])
        for text in [
            "NSAllowsArbitraryLoads ", "NSAllowsLocalNetworking ", "“NSAllowsArbitraryLoad”", "NSExceptionAllowsInsecureHTTPLoads",
            "“TLSv9”",
            "“NSInsecure”", "lower case", "wildcard", "no scheme", "NSRequiresCertificateTransparency", "“broken.example”",
        ] { #expect(found.findings.contains { $0.contains(text) }, "no finding names \(text)") }
        #expect(found.findings.count == 11)
    }

    @Test("An excepted domain in upper case is that domain, and is reported") func upperCase() throws {
        let found = try Self.configuration([
            "NSAllowsArbitraryLoads": true,
            "NSExceptionDomains": [
                "Strict.Example": [:] as [String: Any], "LOOSE.example": ["NSExceptionAllowsInsecureHTTPLoads": true],
                "FD00::/8": [:] as [String: Any],
            ] as [String: Any],
        ])
        #expect(Set(found.exceptions.keys) == ["strict.example", "loose.example", "fd00::/8"])
        #expect(found.findings.count == 3 && found.findings.allSatisfy { $0.contains("counts as") })
        for (host, requiresTLS) in [("strict.example", true), ("STRICT.example", true), ("Loose.Example", false), ("other.example", false)]
        {
            #expect(TransportRequirements(host: host, port: 443, configuration: found).requiresTLS == requiresTLS, "\(host)")
        }
        // A final dot makes it another name, as with Apple, also in the list.
        #expect(!TransportRequirements(host: "Strict.Example.", port: 443, configuration: found).requiresTLS)
        let dotted = try Self.configuration([
            "NSAllowsArbitraryLoads": true, "NSExceptionDomains": ["Strict.Example.": [:] as [String: Any]] as [String: Any],
        ])
        #expect(TransportRequirements(host: "strict.example.", port: 443, configuration: dotted).requiresTLS)
        #expect(!TransportRequirements(host: "strict.example", port: 443, configuration: dotted).requiresTLS)
    }

    @Test("Two spellings of one excepted domain require everything of it and of names below it") func twoSpellings() throws {
        let found = try Self.configuration([
            "NSExceptionDomains": [
                "a.example": ["NSExceptionAllowsInsecureHTTPLoads": true], "A.Example": ["NSExceptionMinimumTLSVersion": "TLSv1.3"],
                "A.EXAMPLE": ["NSExceptionRequiresForwardSecrecy": false],
            ] as [String: Any]
        ])
        var everything = DomainException()
        everything.includesSubdomains = true
        everything.minimumVersion = .tls13
        #expect(found.exceptions == ["a.example": everything])
        #expect(found.findings.contains { $0.hasPrefix("a.example is in NSExceptionDomains more than once") })
        // Only ASCII letters are lowercased: the Kelvin sign, whose lower case in Unicode is k, is not one.
        let kelvin = try Self.configuration(["NSExceptionDomains": ["\u{212A}.example": [:] as [String: Any]] as [String: Any]])
        #expect(kelvin.exceptions.isEmpty && kelvin.findings.count == 1)
    }

    @Test(
        "A narrower key of the wrong type still replaces arbitrary loads, and allows nothing",
        arguments: [
            "NSAllowsArbitraryLoadsForMedia", "NSAllowsArbitraryLoadsInMedia", "NSAllowsArbitraryLoadsInWebContent",
            "NSAllowsLocalNetworking",
        ])
    func narrowerKeysOfTheWrongType(key: String) throws {
        for value in ["NO", "YES", 1, [] as [Any]] as [Any] {
            let found = try Self.configuration(["NSAllowsArbitraryLoads": true, key: value])
            #expect(found.findings.count == 1 && found.findings.allSatisfy { $0.hasPrefix("\(key) ") })
            for purpose in [TransportPurpose.general, .media, .webContent] {
                let requirements = TransportRequirements(host: "example.com", port: 443, configuration: found, purpose: purpose)
                #expect(requirements.basis == .standard && requirements.requiresTLS)
            }
        }
        let refused = try Self.configuration(["NSAllowsLocalNetworking": "NO"])
        #expect(TransportRequirements(host: "printer", port: 443, configuration: refused).requiresTLS)
    }

    @Test("A setting of the wrong type is not replaced by one with an older name") func newerNamesOfTheWrongType() throws {
        let found = try Self.configuration([
            "NSExceptionDomains": [
                "a.example": ["NSExceptionAllowsInsecureHTTPLoads": "NO", "NSTemporaryExceptionAllowsInsecureHTTPLoads": true],
                "b.example": ["NSExceptionRequiresForwardSecrecy": "YES", "NSThirdPartyExceptionRequiresForwardSecrecy": false],
                "c.example": ["NSExceptionMinimumTLSVersion": 1.2, "NSTemporaryExceptionMinimumTLSVersion": "TLSv1.0"],
            ] as [String: Any]
        ])
        for domain in ["a.example", "b.example", "c.example"] { #expect(found.exceptions[domain] == DomainException()) }
        #expect(found.findings.count == 3)
    }

    @Test("An entry of the wrong type, or with unclear names, excepts nothing and keeps arbitrary loads out")
    func unclearExceptions() throws {
        let found = try Self.configuration([
            "NSAllowsArbitraryLoads": true,
            "NSExceptionDomains": [
                "a.example": 3,
                "b.example": [
                    "NSIncludesSubdomains": "YES", "NSExceptionAllowsInsecureHTTPLoads": true, "NSExceptionMinimumTLSVersion": "TLSv1.0",
                ],
                "c.example": ["NSIncludesSubdomains": 1, "NSExceptionMinimumTLSVersion": "TLSv1.3"],
            ] as [String: Any],
        ])
        for (domain, version) in [("a.example", TransportVersion.tls12), ("b.example", .tls12), ("c.example", .tls13)] {
            for host in [domain, "www.\(domain)"] {
                let requirements = TransportRequirements(host: host, port: 443, configuration: found)
                #expect(requirements.basis == .exception(domain: domain) && requirements.minimumVersion == version)
                #expect(requirements.requiresTLS && requirements.requiresForwardSecrecy && requirements.requiresStrongHash)
            }
        }
        #expect(!TransportRequirements(host: "d.example", port: 443, configuration: found).requiresTLS)
    }

    @Test("Rules or exceptions that are not a dictionary are an error, since they may have required something")
    func brokenContainers() throws {
        for value in ["text", 5, true, ["a.example"]] as [Any] {
            #expect(throws: TransportConfigurationError.wrongType(key: "NSExceptionDomains")) {
                try Self.configuration(["NSAllowsArbitraryLoads": true, "NSExceptionDomains": value])
            }
            let list = try PropertyListSerialization.data(fromPropertyList: ["NSAppTransportSecurity": value], format: .xml, options: 0)
            #expect(throws: TransportConfigurationError.wrongType(key: "NSAppTransportSecurity")) {
                try TransportConfiguration(propertyList: list)
            }
        }
    }

    @Test("What is too large or too deep is refused before it is parsed") func limits() throws {
        for size in [TransportConfiguration.propertyListSizeMax + 1, 100 << 20] {
            let large = Data(repeating: UInt8(ascii: " "), count: size)
            #expect(throws: TransportConfigurationError.tooLarge(size: size)) { try TransportConfiguration(propertyList: large) }
        }
        let level = 100_000
        let tricks = [
            "<array>", "<array>\n<!-- </array></array> -->", "<array x=\"y\">", "<dict><key>k</key>", "<array><![CDATA[</array>]]>",
        ]
        for trick in tricks {
            let text = "<?xml version=\"1.0\"?><plist version=\"1.0\">" + String(repeating: trick, count: level / trick.utf8.count)
            #expect(throws: TransportConfigurationError.tooDeep) { try TransportConfiguration(propertyList: Data(text.utf8)) }
        }
        let texts = [
            "", "((((", "{a = b;}", "<plist><!-- ", "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><dict/></plist>", "<plist><array/></plist>",
        ]
        for text in texts {
            #expect(throws: TransportConfigurationError.notAPropertyList) { try TransportConfiguration(propertyList: Data(text.utf8)) }
        }
    }

    /// Returns a binary property list of arrays, each with references to the objects that are listed.
    private static func binary(_ objects: [[UInt8]]) -> Data {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for references in objects {
            offsets.append(UInt8(bytes.count >> 8))
            offsets.append(UInt8(bytes.count & 0xFF))
            bytes.append(0xA0 | UInt8(references.count))
            bytes += references
        }
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
        for number in [objects.count, 0, table] { bytes += (0..<8).reversed().map { UInt8((number >> ($0 * 8)) & 0xFF) } }
        return Data(bytes)
    }

    @Test("Cycles, depth and shared objects of binary property lists are refused") func binaryShapes() throws {
        #expect(throws: TransportConfigurationError.notAPropertyList) { try TransportConfiguration(propertyList: Self.binary([[0]])) }
        #expect(throws: TransportConfigurationError.notAPropertyList) { try TransportConfiguration(propertyList: Self.binary([[1], [0]])) }
        #expect(throws: TransportConfigurationError.notAPropertyList) { try TransportConfiguration(propertyList: Self.binary([[9]])) }
        let deep = (1...200).map { [UInt8($0)] } + [[]]
        #expect(throws: TransportConfigurationError.tooDeep) { try TransportConfiguration(propertyList: Self.binary(deep)) }
        let wide = (1...25).map { [UInt8](repeating: $0, count: 14) } + [[]]
        #expect(throws: TransportConfigurationError.tooDeep) { try TransportConfiguration(propertyList: Self.binary(wide)) }
    }

    /// Foundation's parser ends the program for a set.
    @Test("Objects that the XML form does not have are refused", arguments: [0xC1, 0xC0, 0x80, 0x00, 0x0F, 0x70, 0xE0, 0xF0] as [UInt8])
    func otherObjects(marker: UInt8) throws {
        var list = try PropertyListSerialization.data(fromPropertyList: ["a": [true]], format: .binary, options: 0)
        #expect(try TransportConfiguration(propertyList: list) == TransportConfiguration())
        let array = try #require(list.firstIndex(of: 0xA1))
        list[array] = marker
        #expect(throws: TransportConfigurationError.notAPropertyList) { try TransportConfiguration(propertyList: list) }
    }

    @Test("A changed byte anywhere is read or refused, never a crash") func damagedBytes() throws {
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let intact = try Self.data(
                ["NSAllowsArbitraryLoads": false, "NSExceptionDomains": ["a.example": ["NSExceptionMinimumTLSVersion": "TLSv1.3"]]], [:],
                format: format)
            for index in intact.indices {
                for value: UInt8 in [0, 0x41, 0xD1, 0xFF, intact[index] ^ 1] {
                    var damaged = intact
                    damaged[index] = value
                    _ = try? TransportConfiguration(propertyList: damaged)
                }
                _ = try? TransportConfiguration(propertyList: intact[..<index])
            }
        }
    }
}
