import Testing
import VaubanTransportPolicy

/// Which addresses are connected to, by IANA's registries of special-purpose addresses.
@Suite struct AddressRuleTests {
    private func allows(_ text: String, networks: String = "") throws -> Bool {
        AddressRule(allowing: NetworkList(networks).networks).allows(try #require(NetworkAddress(text)))
    }

    @Test(
        "Public addresses are allowed",
        arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1", "169.253.255.255",
            "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.31.196.1", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
            "223.255.255.255", "2001:200::1", "2001:4860:4860::8888", "2001:db7::1", "2001:db9::1", "2606:4700::1111", "2a00:1450::1",
            "3ffe:ffff::1", "3fff:1000::1",
        ])
    func publicAddresses(_ address: String) throws { #expect(try allows(address)) }

    @Test(
        "Addresses of this machine, of its network and for special purposes are refused",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254",
            "169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.170", "192.0.2.1", "192.88.99.1",
            "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1",
            "239.255.255.255", "240.0.0.1", "255.255.255.255",
            "::", "::1", "::8.8.8.8", "100::1", "100:0:0:1::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:1::1",
            "2001:2::1", "2001:10::1", "2001:20::1", "2001:1ff::1", "2001:db8::1", "3fff::1", "3fff:fff::1", "4000::1", "5f00::1",
            "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "64:ff9b:2::8.8.8.8", "64:ff9b:0:0:0:1::1",
        ])
    func otherAddresses(_ address: String) throws { #expect(try !allows(address)) }

    @Test(
        "An address of IPv6 that stands for one of IPv4 is judged as that one",
        arguments: ["::ffff:%", "64:ff9b::%", "64:ff9b:1::%", "64:ff9b:1:abcd::%"])
    func embedded(_ form: String) throws {
        let address = { (four: String) in form.replacing("%", with: four) }
        #expect(try allows(address("8.8.8.8")))
        for four in ["10.0.0.1", "127.0.0.1", "169.254.169.254"] { #expect(try !allows(address(four)), "\(four)") }
        #expect(try allows(address("10.0.0.1"), networks: "10.0.0.0/8"))
        #expect(try !allows(address("10.0.0.1"), networks: "10.0.0.2"))
    }

    @Test("An address of 6to4 is judged by the router in it") func routers() throws {
        #expect(try allows("2002:808:808::1"))
        #expect(try !allows("2002:a00:1::8.8.8.8"))
        #expect(try !allows("2002:7f00:1::1"))
    }

    @Test(
        "A translator's address is judged at each place where its prefix may end",
        arguments: [
            // 10.0.0.1 under a prefix of 48, 56 and 64 bits, also with 8.8.8.8 behind it.
            "64:ff9b:1:a00:0:100::", "64:ff9b:1:a:0:1::", "64:ff9b:1:0:a:0:100:0", "64:ff9b:1:a00:0:100:808:808",
            "64:ff9b:1:0:a:0:808:808", "64:ff9b:1::",
        ])
    func places(_ address: String) throws { #expect(try !allows(address)) }

    @Test("What root allows is allowed besides, and nothing beside it") func allowedNetworks() throws {
        let networks = "10.1.0.0/16\n192.168.7.9\nfd00:1::/32\n"
        for address in ["10.1.0.1", "10.1.255.255", "192.168.7.9", "fd00:1::5", "8.8.8.8"] {
            #expect(try allows(address, networks: networks), "\(address)")
        }
        for address in ["10.0.255.255", "10.2.0.0", "192.168.7.8", "fd00:2::5", "127.0.0.1"] {
            #expect(try !allows(address, networks: networks), "\(address)")
        }
        #expect(try allows("127.0.0.1", networks: "0.0.0.0/0"))
        #expect(try allows("fe80::1", networks: "::/0"))
    }

    @Test("A list has blocks and addresses, with comments") func list() {
        let list = NetworkList("# the intranet\n10.0.0.0/8\t# all of it\r\n\n  fd00::/8\n192.168.1.1\n::1/128\n0.0.0.0/0")
        #expect(list.unreadableLines.isEmpty)
        #expect(list.networks.map { "\($0.base)/\($0.length)" } == ["10.0.0.0/8", "fd00::/8", "192.168.1.1/32", "::1/128", "0.0.0.0/0"])
    }

    @Test(
        "A line that is neither is told by its number, and allows nothing",
        arguments: [
            "10.1", "010.1.0.1", "0x0a.0.0.1", "10", "10.0.0.1.", "fe80::1%eth0", "[::1]", "10.0.0.0/33", "::/129", "10.0.0.0/", "/8",
            "10.0.0.0/08", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.1/8", "fd00::1/8", "10.0.0.0/255.0.0.0", "intranet.example",
            "10.0.0.1 10.0.0.2", "10.0.0.0 /8", "10.0.0.1\0", "１0.0.0.1",
        ])
    func unreadableLines(_ line: String) {
        let list = NetworkList("10.0.0.1\n\(line)\n10.0.0.2\n")
        #expect(list.unreadableLines == [2])
        #expect(list.networks.map { "\($0.base)" } == ["10.0.0.1", "10.0.0.2"])
    }

    @Test("Addresses are four or sixteen bytes, and read as they are written") func bytes() throws {
        #expect(NetworkAddress(bytes: [10, 0, 0, 1]) == NetworkAddress("10.0.0.1"))
        #expect(NetworkAddress(bytes: [UInt8](repeating: 0, count: 15) + [1])?.description == "::1")
        for count in [0, 3, 5, 15, 17] { #expect(NetworkAddress(bytes: [UInt8](repeating: 1, count: count)) == nil) }
    }
}
