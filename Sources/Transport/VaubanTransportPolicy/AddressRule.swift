// Which addresses a room connects to if a program names the host: only those of the Internet, so that no program can use the room to reach
// hosts that only this machine or its own network may reach.

/// Decides about addresses by IANA's registries of special-purpose addresses for IPv4 and IPv6. It reads nothing else.
package struct AddressRule: Sendable {
    /// Networks that root allows in addition.
    private let networks: [NetworkBlock]

    package init(allowing networks: [NetworkBlock] = []) { self.networks = networks }

    /// Returns whether the address is public, or in a network that root allows. An IPv6 address that stands for an IPv4 address is treated
    /// as that address.
    package func allows(_ address: NetworkAddress) -> Bool {
        if networks.contains(where: { $0.contains(address) }) { return true }
        if address.isVersion4 { return !Self.special4.contains { $0.contains(address) } }
        if Self.translatedHere.contains(where: { $0.contains(address) }) { return allowsEach(of: Self.translations(of: address)) }
        for (block, offset) in Self.embedding where block.contains(address) {
            return Self.version4(of: address, at: [offset, offset + 1, offset + 2, offset + 3]).map(allows) ?? false
        }
        // So far, only one eighth of IPv6 is assigned to hosts of the Internet.
        return Self.global6.contains { $0.contains(address) } && !Self.special6.contains { $0.contains(address) }
    }

    /// Returns whether each of these addresses is allowed. Ignores those in 0.0.0.0/8, which no translator reaches, and returns false if no
    /// other address is left.
    private func allowsEach(of places: [NetworkAddress]) -> Bool {
        let reached = places.filter { $0.bytes.first != 0 }
        return !reached.isEmpty && reached.allSatisfy(allows)
    }

    /// Returns the IPv4 addresses that an address may stand for, with a prefix of 48, 56, 64 or 96 bits (RFC 6052, section 2.2). The
    /// address does not show which prefix its network uses.
    private static func translations(of address: NetworkAddress) -> [NetworkAddress] {
        [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], [12, 13, 14, 15]].compactMap { version4(of: address, at: $0) }
    }

    private static func version4(of address: NetworkAddress, at places: [Int]) -> NetworkAddress? {
        NetworkAddress(bytes: places.map { address.bytes[$0] })
    }

    /// Blocks of IPv6 whose addresses contain an IPv4 address, with its offset in bytes: mapped (RFC 4291), translated (RFC 6052), and 6to4
    /// (RFC 3056).
    private static let embedding = [("::ffff:0:0/96", 12), ("64:ff9b::/96", 12), ("2002::/16", 2)]
        .compactMap { text, offset in NetworkBlock(text).map { ($0, offset) } }

    /// For translators within one network, with prefixes of that network's choice (RFC 8215).
    private static let translatedHere = blocks("64:ff9b:1::/48")

    private static let special4 = blocks(
        "0.0.0.0/8",  // this network
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",  // private
        "100.64.0.0/10",  // what the customers of a provider share
        "127.0.0.0/8",  // this machine
        "169.254.0.0/16",  // link-local, and the services of cloud providers for their machines
        "192.0.0.0/24",  // protocols of the IETF
        "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24",  // documentation
        "192.88.99.0/24",  // relays of 6to4, withdrawn
        "198.18.0.0/15",  // benchmarks
        "224.0.0.0/4",  // multicast
        "240.0.0.0/4"  // reserved, with the broadcast address
    )

    private static let global6 = blocks("2000::/3")

    private static let special6 = blocks(
        "2001::/23",  // protocols of the IETF: Teredo, benchmarks, ORCHID and others
        "2001:db8::/32", "3fff::/20"  // documentation
    )

    private static func blocks(_ texts: String...) -> [NetworkBlock] { texts.compactMap { NetworkBlock($0) } }
}
