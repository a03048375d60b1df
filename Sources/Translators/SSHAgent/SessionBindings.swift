// The SSH sessions to which a connection is bound (OpenSSH's PROTOCOL.agent, section 1, and the rules of ssh-agent(1)).

internal import VaubanSSHWire

struct SessionBindings: Sendable {
    struct Hop: Sendable {
        let host: SSHPublicKey
        let session: [UInt8]
        let isForwarding: Bool
    }

    private(set) var hops: [Hop] = []
    /// Whether a client failed to bind a session.
    private(set) var hasFailed = false

    /// Binds the connection to a session that the server signed. Returns false if the signature is wrong or contradicts earlier bindings.
    mutating func bind(_ binding: SSHSessionBinding) -> Bool {
        guard let host = try? SSHPublicKey(blob: binding.hostKey), (16...64).contains(binding.session.count),
            SignatureCheck.isValid(binding.signature, of: binding.session, by: host)
        else {
            hasFailed = true
            return false
        }
        for hop in hops {
            // A connection bound to a login can be bound to nothing else.
            guard hop.isForwarding else { return false }
            guard hop.session == binding.session else { continue }
            return hop.host == host
        }
        guard hops.count < AgentLimits.sessionsMax else { return false }
        hops.append(Hop(host: host, session: binding.session, isForwarding: binding.isForwarding))
        return true
    }

    /// The destination of a login, as far as the bound sessions prove it.
    enum Destination: Hashable, Sendable {
        case host(SSHPublicKey)
        /// Nothing proves the destination: an older client, or a server behind a forwarded agent that does not bind its sessions.
        case unproven
    }

    /// Returns the destination of a login; nil if its session or server differs from the bound one.
    func destination(of login: SSHLogin) -> Destination? {
        guard let last = hops.last, !last.isForwarding else { return .unproven }
        guard login.session == last.session else { return nil }
        if let said = login.hostKey { guard (try? SSHPublicKey(blob: said)) == last.host else { return nil } }
        return .host(last.host)
    }

    /// Whether no client has tried to bind the connection, so that as far as the agent can determine, it belongs to a program on this
    /// machine.
    var isEmpty: Bool { hops.isEmpty && !hasFailed }

    /// The servers to which the agent was forwarded, the nearest first.
    var forwardedTo: [SSHPublicKey] { hops.filter(\.isForwarding).map(\.host) }

    /// Returns whether a key that is limited to destinations may sign this login. Behind a forwarding, its server must be known.
    func permit(_ destinations: [SSHDestination], _ login: SSHLogin) -> Bool {
        guard case .host = destination(of: login), hops.count == 1 || login.hostKey != nil else { return false }
        return permit(destinations, user: login.user)
    }

    /// Returns whether a key with these destinations may sign for `user` here, or may be listed if `user` is nil.
    func permit(_ destinations: [SSHDestination], user: String? = nil) -> Bool {
        guard let last = hops.last else { return !hasFailed && user == nil }
        var from: SSHPublicKey?
        for (index, hop) in hops.enumerated() {
            let isLast = index == hops.count - 1
            guard isLast ? !(hop.isForwarding && user != nil) : hop.isForwarding else { return false }
            guard destinations.contains(where: { $0.allows(from: from, to: hop.host, user: isLast ? user : nil) }) else { return false }
            from = hop.host
        }
        // A key that may log in to that server but not go further is not listed there.
        if last.isForwarding { return destinations.contains { $0.allows(from: last.host, to: nil, user: nil) } }
        return true
    }
}

extension SSHDestination {
    fileprivate func allows(from: SSHPublicKey?, to host: SSHPublicKey?, user: String?) -> Bool {
        if let from {
            guard self.from.has(from) else { return false }
        } else {
            guard self.from.host.isEmpty, self.from.keys.isEmpty else { return false }
        }
        if let host, !to.has(host) { return false }
        guard let user, !to.user.isEmpty else { return true }
        return Wildcard.matches(user, pattern: to.user)
    }
}

extension SSHHop {
    fileprivate func has(_ key: SSHPublicKey) -> Bool { keys.contains { (try? SSHPublicKey(blob: $0)) == key } }
}

/// The patterns of ssh_config(5): `*` matches any characters, `?` exactly one.
enum Wildcard {
    static func matches(_ text: String, pattern: String) -> Bool {
        let (text, pattern) = (Array(text.utf8), Array(pattern.utf8))
        var (position, place) = (0, 0)
        var star: (place: Int, position: Int)?
        while position < text.count {
            if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
                star = (place, position)
                place += 1
            } else if place < pattern.count, pattern[place] == UInt8(ascii: "?") || pattern[place] == text[position] {
                (position, place) = (position + 1, place + 1)
            } else if let last = star {
                star = (last.place, last.position + 1)
                (place, position) = (last.place + 1, last.position + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
