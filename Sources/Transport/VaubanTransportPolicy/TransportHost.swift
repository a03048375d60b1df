import Glibc

/// A host as the rules compare it: a name in lower case, or the bytes of an address.
struct TransportHost: Equatable {
    /// A name in lower case, an address as `inet_ntop` writes it, or any other text, with `?` for characters that no name has.
    let name: String
    /// Sixteen bytes in network order, or nil for a name. An IPv4 address is in `::ffff:0:0/96`, in whichever notation it was given.
    let address: [UInt8]?
    /// The network interface in an IPv6 address: connections need it, the rules do not.
    let zone: String?
    /// Whether a host can have this name. Others are refused: a resolver may truncate them at a zero byte.
    let isUsable: Bool
    private let isVersion4: Bool

    init(_ text: String) {
        if Self.isUsableName(text) {
            let four = Self.version4(text)
            let name = four.map { $0.map { "\($0)" }.joined(separator: ".") } ?? text.lowercased()
            self.init(name: name, address: four.map { Self.mapping + $0 }, isVersion4: four != nil)
            return
        }
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? text.dropFirst().dropLast() : text[...]
        let parts = bare.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        if let sixteen = parts.first.flatMap({ Self.version6(String($0)) }), parts.count == 1 || Self.isUsableZone(parts[1]) {
            self.init(name: Self.text(sixteen), address: sixteen, zone: parts.count == 2 ? String(parts[1]) : nil)
        } else {
            let shown = text.utf8.prefix(Self.bytesMax).map { Self.isUsable($0) ? $0 : UInt8(ascii: "?") }
            self.init(name: String(decoding: shown, as: UTF8.self).lowercased(), isUsable: false)
        }
    }

    private init(name: String, address: [UInt8]? = nil, zone: String? = nil, isUsable: Bool = true, isVersion4: Bool = false) {
        self.name = name
        self.address = address
        self.zone = zone
        self.isUsable = isUsable
        self.isVersion4 = isVersion4
    }

    /// Whether the name is local by Apple's rule for `NSAllowsLocalNetworking`: one without a dot, or one under `.local`.
    var isLocalName: Bool {
        let name = withoutFinalDot.name
        return isUsable && address == nil && (!name.utf8.contains(Self.dot) || name.hasSuffix(".local"))
    }

    /// Whether the address is this machine's own, which never appears on a network.
    var isLoopback: Bool { Self.loopbackBlocks.contains { prefixLength(in: $0) != nil } }

    /// Whether the address belongs to a local network, so that routers of the Internet do not forward it.
    var isPrivate: Bool { Self.privateBlocks.contains { prefixLength(in: $0) != nil } }

    /// The same host without the final dot that marks a fully qualified name. Resolvers find the same server.
    var withoutFinalDot: TransportHost {
        address == nil && name.utf8.last == Self.dot ? TransportHost(String(name.dropLast())) : self
    }

    /// The names above this one, nearest first: `b.c` and `c` for `a.b.c`.
    var ancestors: [String] {
        guard address == nil else { return [] }
        var found: [String] = []
        var rest = name[...]
        while let dot = rest.utf8.firstIndex(of: Self.dot) {
            rest = rest[rest.utf8.index(after: dot)...]
            if !rest.isEmpty { found.append(String(rest)) }
        }
        return found
    }

    /// Returns the length of the prefix if `block` is a block of addresses that contains this one. Lengths are those of IPv6: a block of
    /// IPv4 has 96 more bits.
    func prefixLength(in block: String) -> Int? {
        guard let address, let block = Self.block(block) else { return nil }
        // An IPv6 block that is large enough to contain all of IPv4 is not meant to include IPv4.
        if isVersion4, block.length < 96 { return nil }
        for bit in 0..<block.length where (address[bit / 8] ^ block.base[bit / 8]) & (0x80 >> UInt8(bit % 8)) != 0 { return nil }
        return block.length
    }

    /// Whether the text is an address or a block of addresses.
    static func isAddressOrBlock(_ text: String) -> Bool { TransportHost(text).address != nil || block(text) != nil }

    private static func block(_ text: String) -> (base: [UInt8], length: Int)? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let length = UInt8(parts[1]).map(Int.init) else { return nil }
        var four = in_addr()
        if inet_pton(AF_INET, parts[0], &four) == 1 {
            return length <= 32 ? (mapping + withUnsafeBytes(of: &four) { Array($0) }, 96 + length) : nil
        }
        return version6(parts[0]).flatMap { length <= 128 ? ($0, length) : nil }
    }
}

extension TransportHost {
    private static let mapping = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    private static let loopbackBlocks = ["127.0.0.0/8", "::1/128"]
    /// Private and link-local blocks (RFC 1918, RFC 3927, RFC 4193, RFC 4291). The shared addresses of a provider's customers
    /// (100.64.0.0/10, RFC 6598) are not among them: a host there is not necessarily the user's.
    private static let privateBlocks = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10"]
    private static let bytesMax = 255
    private static let dot = UInt8(ascii: ".")

    /// Parses what resolvers accept as an IPv4 address: also hexadecimal, octal, and fewer than four numbers.
    private static func version4(_ name: String) -> [UInt8]? {
        guard let first = name.utf8.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return nil }
        var four = in_addr()
        return inet_aton(name, &four) == 1 ? withUnsafeBytes(of: &four) { Array($0) } : nil
    }

    private static func version6(_ text: String) -> [UInt8]? {
        // A C string ends at a zero byte.
        guard !text.utf8.contains(0) else { return nil }
        var sixteen = in6_addr()
        return inet_pton(AF_INET6, text, &sixteen) == 1 ? withUnsafeBytes(of: &sixteen) { Array($0) } : nil
    }

    private static func text(_ sixteen: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(AF_INET6, sixteen, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether the text consists of labels of letters, digits, hyphens and underscores, separated by dots, with an optional final dot.
    private static func isUsableName(_ text: String) -> Bool {
        var before = dot
        for byte in text.utf8 {
            guard isUsable(byte), byte != dot || before != dot else { return false }
            before = byte
        }
        return !text.isEmpty && text.utf8.count <= bytesMax
    }

    private static func isUsableZone(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count <= bytesMax && text.utf8.allSatisfy(isUsable)
    }

    private static func isUsable(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "_"), dot: true
        default: false
        }
    }
}
