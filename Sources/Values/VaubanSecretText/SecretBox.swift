package import VaubanSecretBytes

/// A reference to a secret that can be passed on.
package final class SecretBox: Sendable {
    package let secret: SecretBytes
    package init(_ secret: consuming SecretBytes) { self.secret = secret }
}
