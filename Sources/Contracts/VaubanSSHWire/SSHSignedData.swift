// The data that a client wants to have signed, as far as its meaning can be determined.

/// A login request (RFC 4252, section 7), with the host key if the method includes it (OpenSSH's PROTOCOL, section 1.8).
package struct SSHLogin: Hashable, Sendable {
    package let session: [UInt8]
    package let user: String
    package let publicKey: [UInt8]
    package let hostKey: [UInt8]?
}

package enum SSHSignedData: Hashable, Sendable {
    case login(SSHLogin)
    /// A signature of a file or message for the purpose of a namespace (OpenSSH's PROTOCOL.sshsig).
    case message(namespace: String)
    /// A certificate for another key (OpenSSH's PROTOCOL.certkeys).
    case certificate
    case unknown

    package init(_ data: [UInt8]) {
        self = data.withUnsafeBytes { bytes in
            if let login = try? Self.login(bytes) { return .login(login) }
            if let namespace = try? Self.namespace(bytes) { return .message(namespace: namespace) }
            return Self.beginsCertificate(bytes) ? .certificate : .unknown
        }
    }

    private static func login(_ bytes: UnsafeRawBufferPointer) throws(SSHError) -> SSHLogin {
        var reader = SSHReader(bytes)
        let session = try reader.octets()
        guard (16...64).contains(session.count), try reader.byte() == 50 else { throw SSHError("this is no login") }
        let user = try reader.text()
        guard try reader.text() == "ssh-connection" else { throw SSHError("this is no login") }
        let method = try reader.text()
        guard try reader.flag() else { throw SSHError("this is no login") }
        _ = try reader.text()
        let key = try reader.octets()
        var host: [UInt8]?
        switch method {
        case "publickey": break
        case "publickey-hostbound-v00@openssh.com": host = try reader.octets()
        default: throw SSHError("this is no login by a key")
        }
        try reader.end()
        return SSHLogin(session: session, user: user, publicKey: key, hostKey: host)
    }

    private static func namespace(_ bytes: UnsafeRawBufferPointer) throws(SSHError) -> String {
        let magic = Array("SSHSIG".utf8)
        guard bytes.count > magic.count, bytes.prefix(magic.count).elementsEqual(magic) else {
            throw SSHError("this is no signature of a message")
        }
        var reader = SSHReader(UnsafeRawBufferPointer(rebasing: bytes[magic.count...]))
        let namespace = try reader.text()
        _ = try reader.string()
        let digestBytes = ["sha256": 32, "sha512": 64][try reader.text()]
        guard !namespace.isEmpty, try reader.string().count == digestBytes else { throw SSHError("this is no signature of a message") }
        try reader.end()
        return namespace
    }

    private static func beginsCertificate(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = SSHReader(bytes)
        return (try? reader.text())?.hasSuffix(SSHKeyType.certificateEnding) ?? false
    }
}
