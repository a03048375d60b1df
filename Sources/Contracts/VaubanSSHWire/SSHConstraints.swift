// The constraints on an added key: draft-ietf-sshm-ssh-agent section 3.2.7, OpenSSH's PROTOCOL.agent.

/// A server at one end of a hop: the host name as the user typed it, and its host keys.
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
        guard try reader.string().isEmpty else { throw SSHError("a hop has an unknown extension") }
        var keys: [[UInt8]] = []
        while !reader.isAtEnd {
            let key = try reader.octets()
            // A certificate authority's key would allow every host that it certifies. This agent matches host keys only, so such a key
            // allows nothing.
            if try !reader.flag() { keys.append(key) }
            guard keys.count <= SSHWireLimits.hostKeysMax else { throw SSHError("a hop has too many keys") }
        }
        self.keys = keys
    }
}

/// One hop on which a key may be used. An empty `from` is this machine.
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
        guard try reader.string().isEmpty else { throw SSHError("a destination has an unknown extension") }
        try reader.end()
        guard from.user.isEmpty, from.host.isEmpty == from.keys.isEmpty || !from.host.isEmpty, !to.host.isEmpty else {
            throw SSHError("a destination is incomplete")
        }
    }
}

package struct SSHConstraints: Hashable, Sendable {
    package var seconds: UInt32?
    package var needsConfirmation = false
    /// The allowed destinations; an empty list allows every destination.
    package var destinations: [SSHDestination] = []
    /// Whether the client restricted destinations at all.
    package var isBoundToDestinations = false

    package init() {}

    /// Throws for an unknown constraint: the key must not be added without honoring it.
    init(_ reader: inout SSHReader) throws(SSHError) {
        while !reader.isAtEnd {
            switch try reader.byte() {
            case 1:
                guard seconds == nil else { throw SSHError("the lifetime is given twice") }
                seconds = try reader.number()
                guard seconds != 0 else { throw SSHError("the lifetime is zero") }
            case 2: needsConfirmation = true
            case 255:
                guard try reader.text() == "restrict-destination-v00@openssh.com", !isBoundToDestinations else {
                    throw SSHError("a constraint is unknown")
                }
                try readDestinations(try reader.string())
            default: throw SSHError("a constraint is unknown")
            }
        }
    }

    private mutating func readDestinations(_ bytes: UnsafeRawBufferPointer) throws(SSHError) {
        isBoundToDestinations = true
        var list = SSHReader(bytes)
        while !list.isAtEnd {
            destinations.append(try SSHDestination(try list.string()))
            guard destinations.count <= SSHWireLimits.destinationsMax else { throw SSHError("there are too many destinations") }
        }
    }
}
