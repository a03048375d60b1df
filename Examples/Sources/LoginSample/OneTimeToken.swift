import CryptoKit
import Foundation

/// The time-based one-time password of RFC 6238, as most servers use it: SHA-1, six digits, 30 seconds.
struct OneTimeToken {
    private let secret: [UInt8]
    private static let seconds = 30.0

    /// Reads the secret from the text of a QR code, `otpauth://totp/LABEL?secret=BASE32`; nil if there is none, or if the server wants
    /// another kind of token.
    init?(address: String) {
        guard let parts = URLComponents(string: address), parts.scheme == "otpauth", parts.host == "totp" else { return nil }
        let values = Dictionary((parts.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { first, _ in first }
        let standard = ["algorithm": "SHA1", "digits": "6", "period": "30"]
        guard standard.allSatisfy({ values[$0.key] ?? $0.value == $0.value }) else { return nil }
        guard let secret = values["secret"].flatMap(Self.decoded), !secret.isEmpty else { return nil }
        self.secret = secret
    }

    /// Returns the six digits of a time.
    func text(at date: Date) -> String {
        let step = UInt64(date.timeIntervalSince1970 / Self.seconds)
        let message = withUnsafeBytes(of: step.bigEndian) { Array($0) }
        let code = Array(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: SymmetricKey(data: secret)))
        let offset = Int(code[code.count - 1] & 0x0F)
        let number = code[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let digits = String(number % 1_000_000)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// Decodes base32 (RFC 4648) with or without padding; nil for other characters.
    private static func decoded(_ text: String) -> [UInt8]? {
        var (bytes, bits, count) = ([UInt8](), 0, 0)
        for character in text.uppercased().utf8.reversed().drop(while: { $0 == UInt8(ascii: "=") }).reversed() {
            switch character {
            case 0x41...0x5A: bits = bits << 5 | Int(character - 0x41)
            case 0x32...0x37: bits = bits << 5 | Int(character - 0x32 + 26)
            default: return nil
            }
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(bits >> count))
                bits &= 1 << count - 1
            }
        }
        return bytes
    }
}
