import Glibc

/// An address of a host on a network, of IPv4 or IPv6.
package struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    /// Four or sixteen bytes, in network order.
    package let bytes: [UInt8]

    /// Creates an address from its four or sixteen bytes; nil for any other number.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Parses an address in exactly the form that inet_pton(3) accepts: four decimal numbers without leading zeros, or an IPv6 address
    /// without brackets and zone. Nil for anything else.
    package init?(_ text: String) {
        // A C string ends at a zero byte.
        guard !text.utf8.contains(0) else { return nil }
        var four = in_addr()
        var sixteen = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = withUnsafeBytes(of: &four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &sixteen) == 1 {
            bytes = withUnsafeBytes(of: &sixteen) { Array($0) }
        } else {
            return nil
        }
    }

    package var isVersion4: Bool { bytes.count == 4 }

    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(isVersion4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// All addresses that begin with the same bits.
package struct NetworkBlock: Hashable, Sendable {
    package let base: NetworkAddress
    /// The number of these bits: up to 32 for IPv4, up to 128 for IPv6.
    package let length: Int

    /// Parses `ADDRESS/LENGTH`, or a single address as a block of one. Nil for anything else: an address in a form that inet_pton(3) does
    /// not accept, a length that is not a decimal number or is too large, and an address with bits beyond the length.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let base = NetworkAddress(String(first)) else { return nil }
        let most = base.bytes.count * 8
        var length = most
        if parts.count == 2 {
            guard let given = Self.number(parts[1]), given <= most else { return nil }
            length = given
        }
        guard !(length..<most).contains(where: { base.bytes[$0 / 8] & (0x80 >> UInt8($0 % 8)) != 0 }) else { return nil }
        self.base = base
        self.length = length
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 3, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        guard text.utf8.count == 1 || text.utf8.first != 0x30 else { return nil }
        return Int(text)
    }

    /// Whether the address is of the same version and begins with the bits of the block.
    package func contains(_ address: NetworkAddress) -> Bool {
        guard address.bytes.count == base.bytes.count else { return false }
        return !(0..<length).contains { bit in
            (address.bytes[bit / 8] ^ base.bytes[bit / 8]) & (0x80 >> UInt8(bit % 8)) != 0
        }
    }
}
