// ssh-add reads the key file in any format and with any passphrase, and sends the key to this process as if it were an agent: in memory,
// over a private socket, never as an argument or a file.

import Foundation
import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSSHWire
import VaubanSecretBytes

enum SSHKeyReceiver {
    /// Returns the key of the file, and the key with its certificate if there is a certificate file beside it.
    ///
    /// - Parameter mayPrompt: Whether ssh-add may ask for a passphrase.
    /// - Throws: A refusal (`badParameter`) if the file has no key that can be stored, or has a passphrase that is not given.
    static func keys(inFile file: String, mayPrompt: Bool) throws -> [SSHAddedKey] {
        try check(file)
        var template = Array("\(environment("XDG_RUNTIME_DIR") ?? "/tmp")/vauban-ssh.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("make a folder for a socket", code: errno) }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let path = "\(folder)/socket"
        defer {
            unlink(path)
            rmdir(folder)
        }
        let listener = try listen(at: path)
        setenv("SSH_AUTH_SOCK", path, 1)
        if !mayPrompt {
            // An empty passphrase, which ssh-add does not ask for again.
            setenv("SSH_ASKPASS", "/bin/false", 1)
            setenv("SSH_ASKPASS_REQUIRE", "force", 1)
        }
        let child: pid_t
        do {
            child = try ChildCommand.spawn("ssh-add", ["ssh-add", "-q", "--", file.hasPrefix("-") ? "./\(file)" : file])
        } catch {
            guard error.code == ENOENT else { throw error }
            throw Refusal(.unavailable, "ssh-add is missing; install the OpenSSH client")
        }
        let process = try ProcessDescriptor.open(child)
        var received: [SSHAddedKey] = []
        var isRefused = false
        while let connection = try accepted(listener, until: process) {
            guard let peer = try? Peer(ofConnection: connection), peer.uid == geteuid(), peer.pid == child else { continue }
            while let message = frame(from: connection) {
                let keys = answer(message, on: connection)
                isRefused = isRefused || keys.isEmpty
                received += keys
            }
        }
        let status = ChildCommand.waitForEnd(of: child)
        guard status == 0 || isRefused || !received.isEmpty else {
            let way = mayPrompt ? "run this in a terminal" : "leave out --no-input"
            throw Refusal(
                .badParameter, "ssh-add could not read a private key in \(SafeText.visible(file)); if it has a passphrase, \(way)")
        }
        return received
    }

    private static func check(_ file: String) throws(Refusal) {
        let name = SafeText.visible(file)
        var status = stat()
        guard stat(file, &status) == 0 else {
            throw Refusal(.badParameter, errno == ENOENT ? "There is no file \(name)" : "\(name) cannot be read")
        }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw Refusal(.badParameter, "\(name) is a folder; give the file of one private key")
        }
        guard access(file, R_OK) == 0 else { throw Refusal(.badParameter, "\(name) cannot be read") }
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    private static func listen(at path: String) throws -> Descriptor {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw SystemError("listen at \(path)", code: ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let listener = Descriptor(try SystemError.check(socket(AF_UNIX, kind, 0), "make a socket"))
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try SystemError.check(bound, "listen at \(path)")
        try SystemError.check(Glibc.listen(listener.number, 4), "listen at \(path)")
        return listener
    }

    /// Returns the next connection, or nil if the process has ended.
    private static func accepted(_ listener: Descriptor, until process: Descriptor) throws(SystemError) -> Descriptor? {
        while true {
            var pollers = [
                pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: process.number, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&pollers, 2, -1) >= 0 else { continue }
            if pollers[0].revents != 0 {
                let number = try SystemError.check(accept(listener.number, nil, nil), "accept ssh-add")
                _ = fcntl(number, F_SETFD, FD_CLOEXEC)
                return Descriptor(number)
            }
            if pollers[1].revents != 0 { return nil }
        }
    }

    /// Returns one message, or nil at the end of the connection and for a message that is too large.
    private static func frame(from connection: Descriptor) -> SSHFrame? {
        guard let head = SSHFrame(reading: 4, from: connection) else { return nil }
        let length = head.bytes.withUnsafeBytes { $0.reduce(0) { $0 << 8 | Int($1) } }
        guard (1...SSHWireLimits.frameBytesMax).contains(length) else { return nil }
        return SSHFrame(reading: length, from: connection)
    }

    /// Replies to a request: accepts keys and fails every other request.
    private static func answer(_ frame: SSHFrame, on connection: Descriptor) -> [SSHAddedKey] {
        let request = try? frame.bytes.withUnsafeBytes { bytes throws(SSHError) in try SSHAgentRequest(bytes) }
        var key: SSHAddedKey?
        if case .add(let added)? = request { key = added }
        let reply: SSHAgentReply = key == nil ? .failure : .success
        reply.frame.withUnsafeBytes { _ = writeAll($0, to: connection.number) }
        return key.map { [$0] } ?? []
    }
}

/// Bytes that are read directly into the memory of a secret.
private final class SSHFrame {
    let bytes: SecretBytes

    init?(reading count: Int, from connection: Descriptor) {
        var isWhole = true
        bytes = SecretBytes(count: count) { target in
            var filled = 0
            while filled < count {
                let got = read(connection.number, target.baseAddress.map { $0 + filled }, count - filled)
                if got < 0 && errno == EINTR { continue }
                guard got > 0 else { isWhole = false; return }
                filled += got
            }
        }
        guard isWhole else { return nil }
    }
}
