// What vauban ssh-agent checks before it starts. Without this, a name that no key has would only be noticed when ssh fails.

import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSSHWire

struct SSHAgentCheck {
    /// The names or fingerprints of `--key`.
    let keys: [String]
    let upstream: String?

    /// Checks that the other agent's socket exists, and each key here or in that agent.
    ///
    /// - Throws: A refusal (`itemNotFound`) for a key or a socket that does not exist.
    func run(_ client: ServiceClient) throws {
        if let upstream { try Self.requireSocket(upstream) }
        guard !keys.isEmpty else { return }
        let own: [SSHKeyOfUser]
        do {
            own = try SSHKeyring(client).keys()
        } catch let refusal as Refusal where [.locked, .beforeFirstUnlock].contains(refusal.reason) {
            return say("The keychain is locked, so the names of the keys were not checked.")
        }
        let missing = keys.filter { name in !own.contains { $0.name == name || $0.fingerprint == name } }
        guard !missing.isEmpty else { return }
        let others: [SSHIdentity]? = if let upstream { Self.identities(of: upstream) } else { [] }
        // An agent that does not answer may have the keys.
        guard let others, let unknown = missing.first(where: { name in !others.contains { Self.isNamed(name, $0) } }) else { return }
        throw SSHKeyring.noKey(unknown, among: own)
    }

    private static func requireSocket(_ path: String) throws(Refusal) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else {
            throw Refusal(.itemNotFound, "No socket \(SafeText.path(path, max: 200)) for --upstream; start the other agent first")
        }
    }

    /// Whether a name or fingerprint is that of a key, or of the key that a certificate is for.
    private static func isNamed(_ name: String, _ identity: SSHIdentity) -> Bool {
        let key = (try? SSHPublicKey(blob: identity.blob))?.blob ?? identity.blob
        return [identity.comment, SSHKeyOfUser.fingerprint(of: identity.blob), SSHKeyOfUser.fingerprint(of: key)].contains(name)
    }

    // MARK: The other agent

    private static let answerNanoseconds: UInt64 = 2_000_000_000

    /// Returns the keys of the agent at a socket; nil if it does not answer in time.
    private static func identities(of path: String) -> [SSHIdentity]? {
        guard let connection = SSHAgentOwner.connection(to: path) else { return nil }
        let deadline = MachineClock.monotonic + answerNanoseconds
        let request: [UInt8] = [0, 0, 0, 1, 11]
        guard send(connection.number, request, request.count, Int32(MSG_NOSIGNAL)) == request.count,
            let head = received(4, from: connection, until: deadline)
        else { return nil }
        let count = head.reduce(0) { $0 << 8 | Int($1) }
        guard (1...SSHWireLimits.frameBytesMax).contains(count), let answer = received(count, from: connection, until: deadline)
        else { return nil }
        return try? [SSHIdentity](answer: answer)
    }

    private static func received(_ count: Int, from connection: Descriptor, until deadline: UInt64) -> [UInt8]? {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while bytes.count < count {
            var poller = pollfd(fd: connection.number, events: Int16(POLLIN), revents: 0)
            guard poll(&poller, 1, MachineClock.pollTime(until: deadline)) > 0 else { return nil }
            let got = recv(connection.number, &part, min(part.count, count - bytes.count), 0)
            guard got > 0 else { return nil }
            bytes += part[..<got]
        }
        return bytes
    }
}
