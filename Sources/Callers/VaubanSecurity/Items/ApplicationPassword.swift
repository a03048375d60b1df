internal import VaubanKeychainWire
package import VaubanSecretBytes

/// A password of the application's own, which takes part in the encryption of an item, held for the calls to come. It is
/// zeroed with the last context or call that holds it.
package final class ApplicationPassword: Sendable {
    package let bytes: SecretBytes

    /// Nil when the bytes are none, or more than 1024.
    package init?(_ data: Data) {
        guard (1...KeychainRequest.passwordBytesMax).contains(data.count) else { return nil }
        bytes = SecretBytes(of: data)
    }
}

extension SecretBytes {
    /// A value on its way out, copied once and straight from the caller's own data.
    init(of data: Data) {
        self.init(count: data.count) { target in data.withUnsafeBytes { target.copyMemory(from: $0) } }
    }
}
