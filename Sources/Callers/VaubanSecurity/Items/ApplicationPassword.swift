internal import VaubanKeychainWire
package import VaubanSecretBytes

/// An application password, which takes part in the encryption of an item, kept for later calls. It is zeroed with the last context or call
/// that refers to it.
package final class ApplicationPassword: Sendable {
    package let bytes: SecretBytes

    /// Returns nil if there are no bytes, or more than 1024.
    package init?(_ data: Data) {
        guard (1...KeychainRequest.passwordBytesMax).contains(data.count) else { return nil }
        bytes = SecretBytes(of: data)
    }
}

extension SecretBytes {
    /// Copies a value once, directly from the caller's data.
    init(of data: Data) {
        self.init(count: data.count) { target in data.withUnsafeBytes { target.copyMemory(from: $0) } }
    }
}
