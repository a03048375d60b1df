// The agent's messages: draft-ietf-sshm-ssh-agent, and session-bind@openssh.com of OpenSSH's PROTOCOL.agent.

package import VaubanSecretBytes

/// A passphrase that locks or unlocks the agent.
package final class SSHPassphrase: Sendable {
    package let bytes: SecretBytes
    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}

/// The binding of a connection to one SSH session, which the server signed with its host key.
package struct SSHSessionBinding: Hashable, Sendable {
    package let hostKey: [UInt8]
    package let session: [UInt8]
    package let signature: [UInt8]
    package let isForwarding: Bool

    package init(hostKey: [UInt8], session: [UInt8], signature: [UInt8], isForwarding: Bool) {
        self.hostKey = hostKey
        self.session = session
        self.signature = signature
        self.isForwarding = isForwarding
    }
}

package struct SSHSigning: Hashable, Sendable {
    /// A public key or certificate, as listed.
    package let key: [UInt8]
    package let data: [UInt8]
    package let flags: UInt32
}

package enum SSHAgentRequest: Sendable {
    case list
    case sign(SSHSigning)
    case add(SSHAddedKey)
    case remove([UInt8])
    case removeAll
    case lock(SSHPassphrase)
    case unlock(SSHPassphrase)
    case bind(SSHSessionBinding)
    /// Adds or removes a key that this agent cannot hold: one of a security key or a smart card.
    case foreignKey
    /// An unknown message, or an unsupported extension.
    case unsupported

    /// Decodes one message without its length field.
    package init(_ message: UnsafeRawBufferPointer) throws(SSHError) {
        var reader = SSHReader(message)
        switch try reader.byte() {
        case 17 where Self.isOfSecurityKey(reader), 25 where Self.isOfSecurityKey(reader), 20, 21, 26:
            self = .foreignKey
            return
        case 11: self = .list
        case 13: self = .sign(SSHSigning(key: try reader.octets(), data: try reader.octets(), flags: try reader.number()))
        case 17: self = .add(try SSHAddedKey(&reader, hasConstraints: false))
        case 25: self = .add(try SSHAddedKey(&reader, hasConstraints: true))
        case 18: self = .remove(try reader.octets())
        case 19: self = .removeAll
        case 22: self = .lock(SSHPassphrase(try reader.secret()))
        case 23: self = .unlock(SSHPassphrase(try reader.secret()))
        case 27:
            guard try reader.text() == "session-bind@openssh.com" else {
                self = .unsupported
                return
            }
            self = .bind(
                SSHSessionBinding(
                    hostKey: try reader.octets(), session: try reader.octets(), signature: try reader.octets(),
                    isForwarding: try reader.flag()))
        default:
            self = .unsupported
            return
        }
        try reader.end()
    }

    /// Returns whether a key's type comes next and names a key whose private half stays in a security key (OpenSSH's PROTOCOL.u2f).
    private static func isOfSecurityKey(_ reader: SSHReader) -> Bool {
        var reader = reader
        return (try? reader.text())?.hasPrefix("sk-") ?? false
    }
}

/// An identity that the agent offers: a public key or certificate, and a comment for the user.
package struct SSHIdentity: Hashable, Sendable {
    package let blob: [UInt8]
    package let comment: String

    package init(blob: [UInt8], comment: String) {
        self.blob = blob
        self.comment = comment
    }
}

package enum SSHAgentReply: Hashable, Sendable {
    case failure
    case success
    case identities([SSHIdentity])
    /// The signature with its algorithm, in one string.
    case signature([UInt8])
    /// A message of another agent, without its length.
    case upstream([UInt8])

    /// The message with its length field, ready to send.
    package var frame: [UInt8] {
        var message = SSHWriter()
        switch self {
        case .failure: message.byte(5)
        case .success: message.byte(6)
        case .identities(let identities):
            message.byte(12)
            message.number(UInt32(identities.count))
            for identity in identities {
                message.string(identity.blob)
                message.text(identity.comment)
            }
        case .signature(let signature):
            message.byte(14)
            message.string(signature)
        case .upstream(let content):
            message.raw(content)
        }
        return message.framed
    }
}

extension [SSHIdentity] {
    /// Reads another agent's answer to `list`, without its length.
    package init(answer message: [UInt8]) throws(SSHError) {
        self = try SSHReader.read(message) { reader throws(SSHError) in
            guard try reader.byte() == 12 else { throw SSHError("the answer is no list of keys") }
            var identities: [SSHIdentity] = []
            for _ in 0..<(try reader.number()) {
                identities.append(SSHIdentity(blob: try reader.octets(), comment: String(decoding: try reader.string(), as: UTF8.self)))
            }
            try reader.end()
            return identities
        }
    }
}
