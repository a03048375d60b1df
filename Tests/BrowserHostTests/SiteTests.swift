import BrowserHost
import Testing
import VaubanKeychainModel

/// Origins, the public-suffix list, and which items belong to a page.
@Suite struct SiteTests {
    private let suffixes = PublicSuffixes(
        Array(
            """
            // a comment
            com

            uk
            co.uk // the rest does not count
            github.io
            *.ck
            !www.ck
            kobe.jp
            *.kawasaki.jp
            cn
            公司.cn
            *.பரிட்சை
            !é.பரிட்சை
            """.utf8))

    @Test(
        "Origins of HTTPS pages are parsed",
        arguments: [
            ("https://example.com", "example.com", 443), ("https://a-b.example.com:8443", "a-b.example.com", 8443),
            ("https://127.0.0.1", "127.0.0.1", 443), ("https://[::1]:444", "[::1]", 444), ("https://localhost", "localhost", 443),
        ] as [(String, String, Int64)])
    func originsAreParsed(text: String, host: String, port: Int64) throws {
        let origin = try #require(WebOrigin(text))
        #expect(origin.host == host && origin.port == port)
    }

    @Test(
        "Other text is refused as an origin",
        arguments: [
            "http://example.com", "null", "", "https://", "https://Example.com", "https://example.com/", "https://anna@example.com",
            "https://example.com:443", "https://example.com:0", "https://example.com:65536", "https://example.com:08443", "https://a..b",
            "https://.example.com", "https://example.com.", "https://exa mple.com", "https://exämple.com", "https://[::1", "https://[]",
            "https://[::1]x", "HTTPS://example.com", "file:///etc/passwd", "https://a\0b", "https://example.com?x", "https://example.com#x",
            "https://" + String(repeating: "a.", count: 200) + "com",
        ])
    func otherTextIsRefused(text: String) { #expect(WebOrigin(text) == nil) }

    @Test(
        "The registered domain follows from the public-suffix list",
        arguments: [
            ("example.com", "example.com"), ("a.b.example.com", "example.com"), ("com", nil), ("example.co.uk", "example.co.uk"),
            ("a.example.co.uk", "example.co.uk"), ("co.uk", nil), ("anna.github.io", "anna.github.io"),
            ("x.anna.github.io", "anna.github.io"), ("github.io", nil), ("example.unlisted", "example.unlisted"), ("a.b.ck", "a.b.ck"),
            ("b.ck", nil), ("www.ck", "www.ck"),
            ("a.www.ck", "www.ck"), ("localhost", nil), ("xn--bcher-kva.com", "xn--bcher-kva.com"),
            ("a.xn--bcher-kva.com", "xn--bcher-kva.com"),
            ("shop.xn--55qx5d.cn", "shop.xn--55qx5d.cn"), ("xn--55qx5d.cn", nil), ("a.xn--55qx5e.cn", "xn--55qx5e.cn"),
            ("x.y.xn--hlcj6aya9esc7a", "x.y.xn--hlcj6aya9esc7a"), ("y.xn--hlcj6aya9esc7a", nil),
            ("x.xn--9ca.xn--hlcj6aya9esc7a", "xn--9ca.xn--hlcj6aya9esc7a"), ("x.y.kawasaki.jp", "x.y.kawasaki.jp"),
        ] as [(String, String?)])
    func registrableDomains(host: String, domain: String?) { #expect(suffixes.registrableDomain(of: host) == domain) }

    private func names(_ origin: String) throws -> [String] { SiteNames(try #require(WebOrigin(origin)), suffixes).names.map(\.host) }

    @Test("A page's names are its host and the ones above it, with www, down to the registered domain")
    func namesOfSite() throws {
        #expect(try names("https://example.com") == ["example.com", "www.example.com"])
        #expect(
            try names("https://a.b.example.com") == [
                "a.b.example.com", "www.a.b.example.com", "b.example.com", "www.b.example.com", "example.com", "www.example.com",
            ])
        #expect(try names("https://www.example.com") == ["www.example.com", "www.www.example.com", "example.com"])
        #expect(try names("https://anna.github.io") == ["anna.github.io", "www.anna.github.io"])
        #expect(try names("https://127.0.0.1") == ["127.0.0.1"])
        #expect(try names("https://localhost") == ["localhost"])
        #expect(SiteNames(try #require(WebOrigin("https://a.example.com")), nil).names.map(\.host) == ["a.example.com"])
    }

    @Test("Sites that the user lists together have each other's names, and those that lead elsewhere only there")
    func listedSites() throws {
        let list = """
            [
                { "shared": ["example.com", "Example.co.uk"] },
                { "from": ["old.com"], "to": ["new.com"], "fromDomainsAreObsoleted": true },
                { "shared": ["eve.com", "com", "github.io", "co.uk"] }
            ]
            """
        let shared = try #require(SharedSites(Array(list.utf8)))
        func names(_ origin: String) throws -> [String] {
            SiteNames(try #require(WebOrigin(origin)), suffixes, shared: shared).names.map(\.host)
        }
        #expect(
            try names("https://a.example.com") == [
                "a.example.com", "www.a.example.com", "example.com", "www.example.com", "example.co.uk", "www.example.co.uk",
            ])
        #expect(try names("https://new.com") == ["new.com", "www.new.com", "old.com", "www.old.com"])
        #expect(try names("https://old.com") == ["old.com", "www.old.com"])
        #expect(try names("https://eve.com") == ["eve.com", "www.eve.com"])
        #expect(try names("https://anna.github.io") == ["anna.github.io", "www.anna.github.io"])
        let site = SiteNames(try #require(WebOrigin("https://new.com")), suffixes, shared: shared)
        let record = ItemRecord(kind: .internetPassword, attributes: ItemAttributes([.server: .text("old.com")]))
        #expect(site.reason(for: record) == "saved for old.com, which you list together with new.com")
        let named = ItemRecord(kind: .genericPassword, attributes: ItemAttributes([.service: .text("old.com")]))
        #expect(site.reason(for: named) == "named old.com, which you list together with new.com")
    }

    @Test(
        "A list of sites in another format is refused",
        arguments: ["", "{", "{}", "[1]", #"[{"share": ["a.com"]}]"#, #"[{"from": ["a.com"]}]"#])
    func otherListsAreRefused(list: String) { #expect(SharedSites(Array(list.utf8)) == nil) }

    private func isOffered(
        _ server: String, on origin: String, port: Int64 = 0, protocolName: String = "htps"
    ) throws -> Bool {
        let attributes = ItemAttributes([.server: .text(server), .port: .number(port), .protocolName: .text(protocolName)])
        return SiteNames(try #require(WebOrigin(origin)), suffixes).reason(for: ItemRecord(kind: .internetPassword, attributes: attributes))
            != nil
    }

    @Test("Items match by name, port and protocol")
    func itemsMatch() throws {
        #expect(try isOffered("example.com", on: "https://login.example.com"))
        #expect(try isOffered("example.com", on: "https://example.com", protocolName: "http"))
        #expect(try isOffered("example.com", on: "https://example.com:8443", port: 8443))
        #expect(try !isOffered("example.com", on: "https://example.com:8443"))
        #expect(try !isOffered("example.com", on: "https://example.com", port: 8443))
        #expect(try !isOffered("example.com", on: "https://example.com", protocolName: "ssh "))
    }

    @Test(
        "Similar names, sibling domains and names below a public suffix do not match",
        arguments: [
            ("example.com", "https://examp1e.com"), ("example.com", "https://example.com.evil.com"),
            ("example.com", "https://notexample.com"),
            ("login.example.com", "https://other.example.com"), ("login.example.com", "https://example.com"),
            ("anna.github.io", "https://eve.github.io"), ("github.io", "https://eve.github.io"), ("co.uk", "https://eve.co.uk"),
            ("com", "https://eve.com"), ("example.com", "https://xn--exmple-cua.com"),
        ])
    func lookalikesDoNotMatch(server: String, origin: String) throws { #expect(try !isOffered(server, on: origin)) }

    @Test("A generic password matches by the name of its service, on the default port alone")
    func genericPasswordsMatch() throws {
        func reason(_ service: String, _ origin: String) throws -> String? {
            SiteNames(try #require(WebOrigin(origin)), suffixes).reason(
                for: ItemRecord(kind: .genericPassword, attributes: ItemAttributes([.service: .text(service)])))
        }
        #expect(try reason("example.com", "https://www.example.com") == "named example.com")
        #expect(try reason("example", "https://example.com") == nil)
        #expect(try reason("example.com", "https://example.com:8443") == nil)
    }
}
