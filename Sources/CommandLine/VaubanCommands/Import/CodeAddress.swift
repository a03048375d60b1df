import Foundation
import VaubanSecretBytes
package import VaubanSecretText

/// The address of one-time codes (`otpauth:`), from the form in which a source stores it.
package enum CodeAddress {
    case whole(SecretBox)
    /// An address made from a bare key with the usual defaults of authenticators: six digits, thirty seconds, SHA-1.
    case made(SecretBox)
    /// Neither an address nor a key.
    case none

    package init(_ code: SecretBox, title: String, account: String) {
        let prefix = Array("otpauth://".utf8)
        if code.secret.withUnsafeBytes({ $0.count > prefix.count && zip($0, prefix).allSatisfy { ($0 | 0x20) == ($1 | 0x20) } }) {
            self = .whole(code)
            return
        }
        guard let key = Self.key(code) else { self = .none; return }
        let issuer = Self.escaped(title)
        let text = SecretBuilder()
        text.append("otpauth://totp/\(issuer)\(issuer.isEmpty || account.isEmpty ? "" : ":")\(Self.escaped(account))?secret=")
        text.append(key.secret)
        if !issuer.isEmpty { text.append("&issuer=\(issuer)") }
        self = .made(text.kept)
    }

    /// Returns the bare key in Base32 (RFC 4648, section 6), which may be in either case with spaces, hyphens and padding.
    private static func key(_ code: SecretBox) -> SecretBox? {
        let key = SecretBuilder()
        let isGood = code.secret.withUnsafeBytes { bytes in
            bytes.allSatisfy { byte in
                switch byte {
                case 0x20, 0x2D, 0x3D: return true
                case 0x61...0x7A: key.append(byte - 0x20); return true
                case 0x41...0x5A, 0x32...0x37: key.append(byte); return true
                default: return false
                }
            }
        }
        return isGood && key.count >= 4 ? key.kept : nil
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(
            withAllowedCharacters: .alphanumerics.intersection(CharacterSet(charactersIn: Unicode.Scalar(0)..<Unicode.Scalar(128))).union(
                CharacterSet(charactersIn: "-._~@"))) ?? ""
    }
}
