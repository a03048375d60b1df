import Testing
import VaubanTransportPolicy

/// The decision, step by step (Specs/transport.md, section 3).
@Suite struct TransportDecisionTests {
    private static func requirements(
        _ host: String, sdk: String? = nil, purpose: TransportPurpose = .general,
        _ change: (inout TransportConfiguration) -> Void = { _ in }
    ) throws -> TransportRequirements {
        var configuration = TransportConfiguration()
        if let sdk { configuration.sdk = try #require(TransportSDK(name: sdk)) }
        change(&configuration)
        return TransportRequirements(host: host, port: 443, configuration: configuration, purpose: purpose)
    }

    private static func exception(_ change: (inout DomainException) -> Void = { _ in }) -> DomainException {
        var exception = DomainException()
        change(&exception)
        return exception
    }

    @Test("Without a property list everything is required") func defaultIsStrict() throws {
        let found = try Self.requirements("example.com")
        #expect(found.basis == .standard)
        #expect(found.requiresTLS && found.requiresForwardSecrecy && found.requiresStrongKeys && found.requiresStrongHash)
        #expect(found.minimumVersion == .tls12)
        #expect(found.cipherSuites == [0xC02C, 0xC02B, 0xCCA9, 0xC030, 0xC02F, 0xCCA8])
    }

    @Test(
        "Programs declared for an older SDK keep the old rule",
        arguments: [
            ("macosx10.10", false), ("macosx10.11", true), ("macosx11.0", true), ("iphoneos8.4", false), ("iphoneos9.0", true),
            ("macosx", nil), ("macosx10.x", nil), ("linux6", nil), ("", nil), ("macosx10.11.1.1", nil),
        ] as [(String, Bool?)])
    func olderSDKs(name: String, isEnforced: Bool?) throws {
        let sdk = TransportSDK(name: name)
        #expect(sdk?.enforcesTransportSecurity == isEnforced)
        guard sdk != nil else { return }
        let found = try Self.requirements("example.com", sdk: name)
        #expect(found.requiresTLS == isEnforced)
        #expect((found.basis == .olderSDK) == (isEnforced == false))
    }

    @Test("Arbitrary loads turn the rules off, except for domains with an entry") func arbitraryLoads() throws {
        let allow = { (configuration: inout TransportConfiguration) in
            configuration.allowsArbitraryLoads = true
            configuration.exceptions["secure.example"] = DomainException()
        }
        let open = try Self.requirements("example.com", allow)
        #expect(open.basis == .arbitraryLoads && !open.requiresTLS && open.minimumVersion == .tls10 && !open.requiresStrongKeys)
        let secure = try Self.requirements("secure.example", allow)
        #expect(secure.basis == .exception(domain: "secure.example") && secure.requiresTLS && secure.requiresForwardSecrecy)
    }

    @Test("A narrower key, even false, replaces arbitrary loads on newer systems only") func narrowerKeys() throws {
        for change: @Sendable (inout TransportConfiguration) -> Void in [
            { $0.allowsLocalNetworking = false }, { $0.allowsArbitraryLoadsForMedia = false },
            { $0.allowsArbitraryLoadsInWebContent = true },
        ] {
            let both = { (configuration: inout TransportConfiguration) in
                configuration.allowsArbitraryLoads = true
                change(&configuration)
            }
            #expect(try Self.requirements("example.com", both).requiresTLS)
            #expect(try !Self.requirements("example.com", sdk: "iphoneos9.3", both).requiresTLS)
        }
    }

    @Test("Media and web content have keys for themselves alone") func purposes() throws {
        let media = try Self.requirements("example.com", purpose: .media) { $0.allowsArbitraryLoadsForMedia = true }
        #expect(media.basis == .arbitraryLoadsForMedia && !media.requiresTLS)
        #expect(try Self.requirements("example.com", purpose: .webContent) { $0.allowsArbitraryLoadsForMedia = true }.requiresTLS)
        #expect(try !Self.requirements("example.com", purpose: .webContent) { $0.allowsArbitraryLoadsInWebContent = true }.requiresTLS)
        #expect(try Self.requirements("example.com") { $0.allowsArbitraryLoadsInWebContent = true }.requiresTLS)
    }

    @Test(
        "Local names need no TLS unless local networking is refused",
        arguments: [
            ("printer", true), ("localhost", true), ("printer.local", true), ("PRINTER.LOCAL.", true),
            ("local.example", false), ("printerlocal.com", false), ("example.com", false),
        ])
    func localHosts(host: String, isLocal: Bool) throws {
        #expect(try Self.requirements(host).requiresTLS == !isLocal)
        #expect(try Self.requirements(host) { $0.allowsLocalNetworking = true }.requiresTLS == !isLocal)
        #expect(try Self.requirements(host) { $0.allowsLocalNetworking = false }.requiresTLS)
        #expect(try Self.requirements(host, sdk: "macosx10.11").requiresTLS)
    }

    enum Reach: Sendable { case machine, localNetwork, internet }

    @Test(
        "An address needs TLS unless it is this machine's, or of a local network where local networking is allowed",
        arguments: [
            ("127.0.0.1", .machine), ("127.255.255.254", .machine), ("0x7f.1", .machine), ("[::ffff:127.0.0.1]", .machine),
            ("[::1]", .machine), ("::1%lo", .machine),
            ("10.0.0.1", .localNetwork), ("10.255.255.254", .localNetwork), ("172.16.0.1", .localNetwork),
            ("172.31.255.254", .localNetwork), ("192.168.1.5", .localNetwork), ("0xc0a80105", .localNetwork),
            ("[::ffff:192.168.1.5]", .localNetwork), ("169.254.1.1", .localNetwork), ("fe80::1%eth0", .localNetwork),
            ("[fc00::1]", .localNetwork), ("[fd12::1]", .localNetwork),
            ("203.0.113.7", .internet), ("8.8.8.8", .internet), ("0xcb007107", .internet), ("[::ffff:203.0.113.7]", .internet),
            ("9.255.255.255", .internet), ("11.0.0.1", .internet), ("126.0.0.1", .internet), ("172.15.255.255", .internet),
            ("172.32.0.1", .internet), ("192.169.0.1", .internet), ("169.255.0.1", .internet), ("100.64.0.7", .internet),
            ("0.0.0.0", .internet), ("224.0.0.1", .internet), ("[2001:db8::7]", .internet), ("[::]", .internet),
            ("[::127.0.0.1]", .internet), ("[64:ff9b::7f00:1]", .internet), ("[fe00::1]", .internet), ("[fec0::1]", .internet),
        ] as [(String, Reach)])
    func addresses(host: String, reach: Reach) throws {
        for (allowed, isOpen) in [(nil, reach == .machine), (true, reach != .internet), (false, false)] as [(Bool?, Bool)] {
            let found = try Self.requirements(host) { $0.allowsLocalNetworking = allowed }
            #expect(found.basis == (isOpen ? .localNetworking : .standard) && found.requiresTLS == !isOpen)
            #expect(throws: Never.self) { try found.check(scheme: "https") }
            if isOpen {
                #expect(throws: Never.self) { try found.check(scheme: "http") }
            } else {
                let error = #expect(throws: TransportError.self) { try found.check(scheme: "http") }
                #expect(error?.rule == .insecureHTTP)
            }
        }
        for sdk in ["macosx14.0", "iphoneos17.0"] { #expect(try Self.requirements(host, sdk: sdk).requiresTLS == (reach != .machine)) }
        // Programs from before reach all addresses, since exceptions could not name them.
        for sdk in ["macosx13.3", "iphoneos16.4", "macosx10.12"] { #expect(try !Self.requirements(host, sdk: sdk).requiresTLS) }
        #expect(try Self.requirements(host, sdk: "iphoneos9.3").requiresTLS)
    }

    @Test("An address of the Internet needs arbitrary loads, or an exception of its own") func publicAddresses() throws {
        let exceptions = { (configuration: inout TransportConfiguration) in
            configuration.allowsLocalNetworking = true
            for block in ["203.0.113.0/24", "2001:db8::/32"] {
                configuration.exceptions[block] = Self.exception { $0.allowsInsecureHTTPLoads = true }
            }
        }
        for host in ["203.0.113.7", "[2001:db8::7]"] {
            #expect(try Self.requirements(host) { $0.allowsArbitraryLoads = true }.basis == .arbitraryLoads)
            let narrowed = try Self.requirements(host) {
                $0.allowsArbitraryLoads = true
                $0.allowsLocalNetworking = true
            }
            #expect(narrowed.basis == .standard)
            #expect(try !Self.requirements(host, exceptions).requiresTLS)
            #expect(try !Self.requirements(host, purpose: .media) { $0.allowsArbitraryLoadsForMedia = true }.requiresTLS)
            #expect(try Self.requirements(host) { $0.allowsArbitraryLoadsForMedia = true }.requiresTLS)
        }
        for host in ["203.0.114.7", "[2001:db9::7]"] { #expect(try Self.requirements(host, exceptions).requiresTLS) }
        // An entry takes the address out of local networking, too.
        let strict = try Self.requirements("192.168.1.5") {
            $0.allowsLocalNetworking = true
            $0.exceptions["192.168.0.0/16"] = DomainException()
        }
        #expect(strict.requiresTLS)
    }

    @Test("The nearest entry decides, exact names first") func nearestEntry() throws {
        let change = { (configuration: inout TransportConfiguration) in
            configuration.exceptions = [
                "example.com": Self.exception {
                    $0.includesSubdomains = true; $0.allowsInsecureHTTPLoads = true
                },
                "api.example.com": Self.exception { $0.minimumVersion = .tls13 },
                "old.example.com": Self.exception {
                    $0.includesSubdomains = true; $0.requiresForwardSecrecy = false
                },
            ]
        }
        let basis = { (host: String) in try Self.requirements(host, change).basis }
        #expect(try basis("example.com") == .exception(domain: "example.com"))
        #expect(try basis("EXAMPLE.com") == .exception(domain: "example.com"))
        #expect(try basis("a.b.example.com") == .exception(domain: "example.com"))
        #expect(try basis("api.example.com") == .exception(domain: "api.example.com"))
        #expect(try basis("a.old.example.com") == .exception(domain: "old.example.com"))
        // This entry has no subdomains; the one above has.
        #expect(try basis("v1.api.example.com") == .exception(domain: "example.com"))
        #expect(try basis("example.com.") == .standard)
        #expect(try basis("badexample.com") == .standard)
        #expect(try Self.requirements("api.example.com", change).requiresTLS)
    }

    @Test("Addresses match exactly or by the longest block") func addressBlocks() throws {
        let change = { (configuration: inout TransportConfiguration) in
            configuration.allowsLocalNetworking = false
            configuration.exceptions = [
                "10.0.0.0/8": Self.exception { $0.minimumVersion = .tls11 }, "10.1.0.0/16": Self.exception { $0.minimumVersion = .tls13 },
                "10.1.0.9": Self.exception { $0.allowsInsecureHTTPLoads = true }, "2001:db8::/32": Self.exception(),
                "2001:DB9:0::1".lowercased(): Self.exception { $0.allowsInsecureHTTPLoads = true },
            ]
        }
        #expect(try Self.requirements("10.9.9.9", change).minimumVersion == .tls11)
        #expect(try Self.requirements("10.1.9.9", change).minimumVersion == .tls13)
        #expect(try !Self.requirements("10.1.0.9", change).requiresTLS)
        #expect(try Self.requirements("11.0.0.1", change).basis == .standard)
        #expect(try Self.requirements("[2001:db8::5]", change).basis == .exception(domain: "2001:db8::/32"))
        #expect(try !Self.requirements("2001:db9::1", change).requiresTLS)
        #expect(try Self.requirements("10.1.0.9", sdk: "macosx13.0", change).basis == .standard)
    }

    @Test(
        "Every spelling of an address is that address",
        arguments: [
            "10.0.0.1", "[::ffff:10.0.0.1]", "::FFFF:a00:1", "0xa000001", "0xA.1", "167772161", "10.1", "012.0.0.1", "0x0a.0.0.0x1",
        ])
    func spellingsOfAddresses(host: String) throws {
        let change = { (configuration: inout TransportConfiguration) in
            configuration.allowsArbitraryLoads = true
            configuration.exceptions = ["10.0.0.0/8": Self.exception { $0.minimumVersion = .tls13 }]
            configuration.pins = ["10.0.0.1": PinnedDomain()]
        }
        let found = try Self.requirements(host, change)
        #expect(found.basis == .exception(domain: "10.0.0.0/8") && found.minimumVersion == .tls13)
        #expect(found.pinnedDomain == "10.0.0.1" && found.isAddress)
        #expect(["10.0.0.1", "::ffff:10.0.0.1"].contains(found.host))
        // The same as a block of IPv6, which is as long.
        let mapped = try Self.requirements(host) {
            change(&$0)
            $0.exceptions["::ffff:10.0.0.0/105"] = Self.exception()
        }
        #expect(mapped.basis == .exception(domain: "::ffff:10.0.0.0/105"))
    }

    @Test("A block of all IPv6 addresses has none of IPv4") func blockOfEverything() throws {
        let change = { (configuration: inout TransportConfiguration) in
            configuration.allowsLocalNetworking = false
            configuration.exceptions = ["::/0": Self.exception { $0.allowsInsecureHTTPLoads = true }]
        }
        #expect(try Self.requirements("10.0.0.1", change).basis == .standard)
        #expect(try Self.requirements("[2001:db8::1]", change).basis == .exception(domain: "::/0"))
    }

    @Test("A final dot takes a name out of an exception, as with Apple, and never out of a pin") func finalDot() throws {
        let change = { (configuration: inout TransportConfiguration) in
            configuration.exceptions = ["bank.example": Self.exception { $0.allowsInsecureHTTPLoads = true }]
            var pinned = PinnedDomain()
            pinned.includesSubdomains = true
            configuration.pins = ["bank.example": pinned, "full.example.": pinned, "10.": pinned]
        }
        for host in ["10.", "10", "0.0.0.10", "0.0.0.10."] { #expect(try Self.requirements(host, change).pinnedDomain == "10.") }
        #expect(try Self.requirements("bank.example.", change).basis == .standard)
        for host in ["bank.example", "bank.example.", "www.bank.example", "www.bank.example."] {
            #expect(try Self.requirements(host, change).pinnedDomain == "bank.example")
        }
        for host in ["full.example", "www.full.example."] {
            #expect(try Self.requirements(host, change).pinnedDomain == "full.example.")
        }
        #expect(try Self.requirements("bank.example..", change).pinnedDomain == nil)
    }

    @Test(
        "A host that no name can be is never local, and refused",
        arguments: [
            "evil.com\0.local", "evil.com\0", "\0", "", ".", "a..local", ".local", "a b", "a/b", "evil.com%00.local", "printer:80",
            "b\u{FC}cher",
            "10.0.0.1\0", "[::1", "fe80::1%", "fe80::1%a\0b", "::1\0", "[printer]", "[10.0.0.1]", "a@printer",
            String(repeating: "a", count: 256),
        ])
    func unusableHosts(host: String) throws {
        let found = try Self.requirements(host) { $0.allowsArbitraryLoads = true }
        #expect(found.basis != .localNetworking && !found.host.contains("\0"))
        for scheme in ["http", "https"] {
            let error = #expect(throws: TransportError.self) { try found.check(scheme: scheme) }
            #expect(error?.rule == .invalidHost && error?.urlErrorCode == -1000)
        }
        #expect(throws: TransportError.self) { try found.check(chain: []) }
    }

    @Test("An address with a zone is the address without it") func zones() throws {
        let change = { (configuration: inout TransportConfiguration) in
            configuration.exceptions = ["fe80::/10": Self.exception { $0.minimumVersion = .tls13 }]
        }
        let found = try Self.requirements("[FE80:0::1%Eth0]", change)
        #expect(found.host == "fe80::1" && found.isAddress && found.basis == .exception(domain: "fe80::/10"))
    }

    @Test("An exception lowers what it names and nothing else") func exceptionsAreNarrow() throws {
        let found = { (change: @escaping (inout DomainException) -> Void) in
            try Self.requirements("h.example") { $0.exceptions["h.example"] = Self.exception(change) }
        }
        let insecure = try found { $0.allowsInsecureHTTPLoads = true }
        #expect(
            !insecure.requiresTLS && insecure.minimumVersion == .tls12 && insecure.requiresForwardSecrecy && insecure.requiresStrongKeys)
        #expect(!insecure.requiresStrongHash)
        let secrecy = try found { $0.requiresForwardSecrecy = false }
        #expect(secrecy.requiresTLS && !secrecy.requiresForwardSecrecy && !secrecy.requiresStrongKeys && secrecy.requiresStrongHash)
        #expect(secrecy.cipherSuites.contains(0x009C) && secrecy.minimumVersion == .tls12)
        let old = try found { $0.minimumVersion = .tls10 }
        #expect(old.requiresTLS && old.requiresForwardSecrecy && old.minimumVersion == .tls10 && !old.cipherSuites.contains(0x002F))
        // RC4 and 3DES are never offered.
        for requirements in [insecure, secrecy, old] {
            #expect(Set(requirements.cipherSuites).isDisjoint(with: [0x0005, 0x000A, 0xC011, 0xC012]))
        }
    }

    @Test("Plain HTTP is refused with Apple's code and the exception that would allow it") func plainHTTP() throws {
        let error = #expect(throws: TransportError.self) { try Self.requirements("example.com").check(scheme: "http") }
        #expect(error?.urlErrorCode == -1022)
        #expect(error?.description.contains("NSExceptionAllowsInsecureHTTPLoads for example.com") == true)
        #expect(throws: Never.self) { try Self.requirements("example.com").check(scheme: "HTTPS") }
        #expect(throws: Never.self) { try Self.requirements("printer").check(scheme: "http") }
    }
}
