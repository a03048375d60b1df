import Foundation
import VaubanSecretBytes
package import VaubanSecretText

/// The address of one-time codes (`otpauth:`), from the form in which a source stores it.
package enum CodeAddress {
    case whole(SecretBox)
    /// An address made from a bare key with the usual defaults of authenticators (six digits, thirty seconds, SHA-1), or from Bitwarden's
    /// form of a key of Steam, `steam://KEY`.
    case made(SecretBox)
    /// Neither an address nor a key.
    case none

    package init(_ code: SecretBox, title: String, account: String) {
        if Self.isAddress(code) {
            self = .whole(code)
            return
        }
        let isSteam = Self.begins(code, with: Self.steamPrefix)
        let bare = isSteam ? SecretBox(code.secret.part(Self.steamPrefix.count..<code.secret.count)) : code
        guard let key = Self.key(bare) else { self = .none; return }
        let issuer = Self.escaped(title)
        let text = SecretBuilder()
        text.append("otpauth://totp/\(issuer)\(issuer.isEmpty || account.isEmpty ? "" : ":")\(Self.escaped(account))?secret=")
        text.append(key.secret)
        if !issuer.isEmpty { text.append("&issuer=\(issuer)") }
        if isSteam { text.append("&encoder=steam") }
        self = .made(text.kept)
    }

    private static let addressPrefix = Array("otpauth://".utf8)
    private static let steamPrefix = Array("steam://".utf8)
    private static let migrationPrefix = Array("otpauth-migration://".utf8)

    /// Whether the text begins as an address does; it may still be invalid.
    package static func isAddress(_ text: SecretBox) -> Bool { begins(text, with: addressPrefix) }

    /// Whether the text is an authenticator's export of several keys, as a QR code has it.
    static func isMigration(_ text: SecretBox) -> Bool { begins(text, with: migrationPrefix) }

    /// Returns the text without spaces and line ends at its ends, as a page shows it.
    static func withoutSpaces(_ text: SecretBox) -> SecretBox {
        let range = text.secret.withUnsafeBytes { bytes in
            let isSpace = { (byte: UInt8) in [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
            guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) }) else {
                return 0..<0
            }
            return first..<last + 1
        }
        return SecretBox(text.secret.part(range))
    }

    /// Whether the text has this prefix, ignoring case, and continues after it.
    private static func begins(_ text: SecretBox, with prefix: [UInt8]) -> Bool {
        text.secret.withUnsafeBytes { $0.count > prefix.count && zip($0, prefix).allSatisfy { ($0 | 0x20) == ($1 | 0x20) } }
    }

    /// Returns the bare key in Base32 (RFC 4648, section 6), which may be in either case with spaces, hyphens and padding.
    static func key(_ code: SecretBox) -> SecretBox? {
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

    /// Returns an issuer or an account for the label of an address. A colon, which separates the two there even if it is escaped, becomes a
    /// space, as do control characters, which no label has.
    static func escaped(_ text: String) -> String {
        let parts = text.unicodeScalars.split { $0 == ":" || $0.value < 0x20 || $0.value == 0x7F }
        return parts.map { String($0).trimmed }.filter { !$0.isEmpty }.joined(separator: " ")
            .addingPercentEncoding(withAllowedCharacters: unescaped) ?? ""
    }

    /// The unreserved characters of RFC 3986, section 2.3, and the at sign of mail addresses.
    private static let unescaped = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~@")
}
