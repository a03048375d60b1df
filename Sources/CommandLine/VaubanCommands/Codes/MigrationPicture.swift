import Foundation
import VaubanOneTimeCodes
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// The `otpauth://` addresses in a QR code's text: the text itself, or one for each account of an authenticator's migration code.
enum MigrationPicture {
    /// Returns the addresses.
    ///
    /// - Throws: `Refusal` with `badParameter` for a migration code that cannot be decoded.
    static func addresses(in text: SecretBox) throws -> [SecretBox] {
        guard let message = try message(in: text) else { return [text] }
        var addresses: [SecretBox] = []
        do {
            try message.withUnsafeBytes { bytes in
                try MigrationCodes.forEachAccount(in: bytes) { account in addresses.append(try address(account)) }
            }
        } catch is OneTimeCodeError {
            throw Refusal(.badParameter, "the migration code cannot be read; export the accounts from the authenticator again")
        }
        return addresses
    }

    /// Returns the decoded data of a migration code, or nil for any other text.
    private static func message(in text: SecretBox) throws -> SecretBytes? {
        let prefix = Array(MigrationCodes.prefix.utf8)
        guard text.secret.withUnsafeBytes({ $0.starts(with: prefix) }) else { return nil }
        // The percent escapes of `+`, `/` and `=` in an address.
        let encoded = SecretBuilder()
        text.secret.withUnsafeBytes { bytes in
            var position = prefix.count
            while position < bytes.count {
                if bytes[position] == UInt8(ascii: "%"), position + 2 < bytes.count,
                    let byte = UInt8(String(decoding: bytes[position + 1...position + 2], as: UTF8.self), radix: 16)
                {
                    encoded.append(byte)
                    position += 3
                } else {
                    encoded.append(bytes[position])
                    position += 1
                }
            }
        }
        guard let message = SecretBase64.bytes(of: encoded.kept.secret) else {
            throw Refusal(.badParameter, "the migration code's data is not base64")
        }
        return message
    }

    private static func address(_ account: borrowing MigrationCodes.Account) throws -> SecretBox {
        let algorithms: [UInt64: String] = [0: "SHA1", 1: "SHA1", 2: "SHA256", 3: "SHA512"]
        let digits: [UInt64: Int] = [0: 6, 1: 6, 2: 8]
        let types: [UInt64: String] = [0: "totp", 1: "hotp", 2: "totp"]
        guard let algorithm = algorithms[account.algorithm], let digits = digits[account.digits], let type = types[account.type] else {
            throw OneTimeCodeError.notAnAddress
        }
        let text = SecretBuilder()
        let name = account.name.split(separator: ":", maxSplits: 1).last.map(String.init) ?? ""
        let label = [account.issuer, name].filter { !$0.isEmpty }.map(escaped).joined(separator: ":")
        text.append("otpauth://\(type)/\(label)?secret=")
        text.append(account.secret.withUnsafeBytes { Base32.encode($0) })
        if !account.issuer.isEmpty { text.append("&issuer=\(escaped(account.issuer))") }
        text.append("&algorithm=\(algorithm)&digits=\(digits)")
        text.append(type == "hotp" ? "&counter=\(account.counter)" : "&period=\(OneTimeCodeKey.periodDefault)")
        return text.kept
    }

    /// The unreserved characters of RFC 3986, section 2.3, and the at sign of mail addresses.
    private static let unescaped = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~@")

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unescaped) ?? ""
    }
}
