// Key wrapping and derivation: AES-256-GCM and HKDF-SHA256 of swift-crypto, with one label per use. The algorithms cannot be chosen.

internal import Crypto
import FoundationEssentials
package import VaubanSecretBytes

/// A wrapped blob does not open: it was made under another key or for another purpose, or it was altered.
/// The disk is to blame, or whoever sent the blob; the caller knows where it came from.
package struct WrapError: Error, Sendable {
    package init() {}
}

package enum KeyWrap {
    /// Returns nonce, ciphertext and tag (12 + n + 16 bytes).
    package static func wrap(_ secret: borrowing SecretBytes, under key: borrowing SecretBytes, label: String, context: [UInt8])
        throws(WrapError) -> [UInt8]
    {
        do {
            let sealed = try secret.withUnsafeBytes { bytes in
                try AES.GCM.seal(bytes, using: key.symmetric(), authenticating: authenticated(label, context))
            }
            guard let combined = sealed.combined else { throw WrapError() }
            return Array(combined)
        } catch {
            throw WrapError()
        }
    }

    package static func unwrap(_ wrapped: [UInt8], under key: borrowing SecretBytes, label: String, context: [UInt8]) throws(WrapError)
        -> SecretBytes
    {
        do {
            let box = try AES.GCM.SealedBox(combined: wrapped)
            var opened = try AES.GCM.open(box, using: key.symmetric(), authenticating: authenticated(label, context))
            return SecretBytes(absorbing: &opened)
        } catch {
            throw WrapError()
        }
    }

    /// Derives a key for one use. The result does not allow computing the input key.
    package static func derive(from key: borrowing SecretBytes, label: String, context: [UInt8] = []) -> SecretBytes {
        let derived = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key.symmetric(), info: authenticated(label, context), outputByteCount: EnclaveLimits.keyBytes)
        return SecretBytes(derived)
    }

    /// Returns the HMAC-SHA256 that authenticates a state file.
    package static func authenticationCode(of bytes: [UInt8], under key: borrowing SecretBytes) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key.symmetric()))
    }

    package static func isValid(_ code: [UInt8], of bytes: [UInt8], under key: borrowing SecretBytes) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: bytes, using: key.symmetric())
    }

    /// The label ends in a zero byte, so that no two pairs of label and context give the same bytes.
    private static func authenticated(_ label: String, _ context: [UInt8]) -> [UInt8] {
        Array(label.utf8) + [0] + context
    }
}

extension SecretBytes {
    init(_ key: SymmetricKey) {
        self.init(count: key.bitCount / 8) { target in key.withUnsafeBytes { target.copyMemory(from: $0) } }
    }

    /// Returns the key as swift-crypto's own zeroing type, for the duration of one call.
    borrowing func symmetric() -> SymmetricKey {
        withUnsafeBytes { SymmetricKey(data: $0) }
    }
}
