// What a client wants of a key that it adds: draft-ietf-sshm-ssh-agent section 3.2.7, OpenSSH's PROTOCOL.agent.

/// A server at one end of a hop: the names of it that the user said, and the keys by which it is known.
package struct SSHHop: Hashable, Sendable {
    package let user: String
    package let host: String
    package let keys: [[UInt8]]

    package init(user: String = "", host: String = "", keys: [[UInt8]] = []) {
        self.user = user
        self.host = host
        self.keys = keys
    }

    fileprivate init(_ bytes: UnsafeRawBufferPointer) throws(SSHError) {
        var reader = SSHReader(bytes)
        user = try reader.text()
        host = try reader.text()
        guard try reader.string().isEmpty else { throw SSHError("a hop has an extension that is not known") }
        var keys: [[UInt8]] = []
        while !reader.isAtEnd {
            let key = try reader.octets()
            // An authority's key allows what it certifies; this agent knows servers by their own keys alone, so it allows nothing.
            if try !reader.flag() { keys.append(key) }
            guard keys.count <= SSHWireLimits.hostKeysMax else { throw SSHError("a hop has too many keys") }
        }
        self.keys = keys
    }
}

/// One hop on which a key may be used: from this machine where `from` names no server.
package struct SSHDestination: Hashable, Sendable {
    package let from: SSHHop
    package let to: SSHHop

    package init(from: SSHHop, to: SSHHop) {
        self.from = from
        self.to = to
    }

    fileprivate init(_ bytes: UnsafeRawBufferPointer) throws(SSHError) {
        var reader = SSHReader(bytes)
        from = try SSHHop(try reader.string())
        to = try SSHHop(try reader.string())
        guard try reader.string().isEmpty else { throw SSHError("a destination has an extension that is not known") }
        try reader.end()
        guard from.user.isEmpty, from.host.isEmpty == from.keys.isEmpty || !from.host.isEmpty, !to.host.isEmpty else {
            throw SSHError("a destination is not complete")
        }
    }
}

package struct SSHConstraints: Hashable, Sendable {
    package var seconds: UInt32?
    package var asksEachTime = false
    /// Empty allows every destination.
    package var destinations: [SSHDestination] = []
    /// Whether destinations were said at all.
    package var isBoundToDestinations = false

    package init() {}

    /// A constraint that is not known cannot be met, so it refuses the key.
    init(_ reader: inout SSHReader) throws(SSHError) {
        while !reader.isAtEnd {
            switch try reader.byte() {
            case 1:
                guard seconds == nil else { throw SSHError("a lifetime is said twice") }
                seconds = try reader.number()
                guard seconds != 0 else { throw SSHError("a lifetime is zero") }
            case 2: asksEachTime = true
            case 255:
                guard try reader.text() == "restrict-destination-v00@openssh.com", !isBoundToDestinations else {
                    throw SSHError("a constraint is not known")
                }
                try readDestinations(try reader.string())
            default: throw SSHError("a constraint is not known")
            }
        }
    }

    private mutating func readDestinations(_ bytes: UnsafeRawBufferPointer) throws(SSHError) {
        isBoundToDestinations = true
        var list = SSHReader(bytes)
        while !list.isAtEnd {
            destinations.append(try SSHDestination(try list.string()))
            guard destinations.count <= SSHWireLimits.destinationsMax else { throw SSHError("the destinations are too many") }
        }
    }
}
