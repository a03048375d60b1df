import Glibc

/// A host as the rules compare it: a name in lower case, or the bytes of an address.
struct TransportHost: Equatable {
    let name: String
    /// Four or sixteen bytes in network order, or nil for a name.
    let address: [UInt8]?

    init(_ text: String) {
        var text = text.lowercased()
        if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
        // A zone names an interface of this machine and is no part of the address.
        let bare = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false).first.map(String.init) ?? text
        address = Self.bytes(of: bare)
        name = address == nil ? text : bare
    }

    /// Whether the host is local by Apple's rule for `NSAllowsLocalNetworking`: an address, a name without a dot, or one under `.local`.
    var isLocal: Bool {
        if address != nil { return true }
        let trimmed = name.hasSuffix(".") ? name.dropLast() : name[...]
        return !trimmed.isEmpty && (!trimmed.contains(".") || trimmed.hasSuffix(".local"))
    }

    /// The names above this one, nearest first: `b.c` and `c` for `a.b.c`.
    var ancestors: [String] {
        guard address == nil else { return [] }
        var found: [String] = []
        var rest = name[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if !rest.isEmpty { found.append(String(rest)) }
        }
        return found
    }

    /// Returns the length of the prefix if `block` is a block of addresses that contains this one.
    func prefixLength(in block: String) -> Int? {
        let parts = block.split(separator: "/", omittingEmptySubsequences: false)
        guard let address, parts.count == 2, let length = UInt8(parts[1]).map(Int.init), let base = Self.bytes(of: String(parts[0])),
            base.count == address.count, length <= base.count * 8
        else { return nil }
        for bit in 0..<length where (address[bit / 8] ^ base[bit / 8]) & (0x80 >> UInt8(bit % 8)) != 0 { return nil }
        return length
    }

    /// Whether the text is an address or a block of addresses.
    static func isAddressOrBlock(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let bytes = bytes(of: String(parts[0])) else { return false }
        if parts.count == 1 { return true }
        return parts.count == 2 && (UInt8(parts[1]).map { Int($0) <= bytes.count * 8 } ?? false)
    }

    private static func bytes(of text: String) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
        var sixteen = in6_addr()
        if inet_pton(AF_INET6, text, &sixteen) == 1 { return withUnsafeBytes(of: &sixteen) { Array($0) } }
        return nil
    }
}
