import VaubanCommands
import VaubanSecretBytes

/// Returns a secret with this text.
func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

/// Returns the text of a secret, which the tests chose.
func text(_ secret: borrowing SecretBytes) -> String { secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
