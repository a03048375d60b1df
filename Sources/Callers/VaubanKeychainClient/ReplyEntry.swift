package import VaubanSecretBytes

/// One of several replies to a request. Its secret section can be taken once.
package final class ReplyEntry<Reply> {
    package let reply: Reply
    private var secret: SecretBytes?

    init(_ reply: Reply, secret: consuming SecretBytes?) {
        self.reply = reply
        self.secret = secret
    }

    package func takeSecret() -> SecretBytes? { secret.take() }

    /// Takes a secret section that is part of an encrypted secret half, and therefore not secret.
    package func takeBytes() -> [UInt8] {
        guard let rest = secret.take() else { return [] }
        return rest.withUnsafeBytes { Array($0) }
    }
}
