import Foundation
import VaubanOneTimeCodes
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// The `otpauth://` addresses in the texts of QR codes: each text itself, or one for each account of an authenticator's migration code.
struct MigrationPicture {
    private(set) var addresses: [SecretBox] = []
    /// The accounts whose codes only that authenticator can compute.
    private(set) var unsupported: [String] = []
    /// The places of the migration codes in their series.
    private(set) var places: [MigrationCodes.Place] = []

    /// - Throws: `Refusal` with `badParameter` for a migration code that cannot be decoded.
    init(_ texts: [SecretBox]) throws {
        for text in texts { try add(text) }
    }

    private mutating func add(_ text: SecretBox) throws {
        guard let message = try Self.message(in: text) else { return addresses.append(text) }
        do {
            let place = try message.withUnsafeBytes { bytes in
                try MigrationCodes.forEachAccount(in: bytes) { account in
                    if let address = Self.address(account) {
                        addresses.append(address)
                    } else {
                        unsupported.append([account.issuer, account.name].filter { !$0.isEmpty }.joined(separator: "/"))
                    }
                }
            }
            if let place { places.append(place) }
        } catch is OneTimeCodeError {
            throw Refusal(.badParameter, "The migration code cannot be read; export the accounts from the authenticator again")
        }
    }

    /// Returns the one address. Texts of other kinds, such as the address of a page, do not count beside it.
    ///
    /// - Throws: `Refusal` with `badParameter` if there are several accounts, or only that authenticator computes the codes of this one.
    func only(several: (Int) -> String) throws -> SecretBox {
        let codes = addresses.filter(CodeAddress.isAddress)
        let wanted = codes.isEmpty && unsupported.isEmpty ? addresses : codes
        let count = wanted.count + unsupported.count
        guard count == 1 else { throw Refusal(.badParameter, several(count)) }
        guard let address = wanted.first else {
            throw Refusal(.badParameter, "Only the authenticator that showed this account computes its codes; set it up anew at the site")
        }
        return address
    }

    /// Reports which accounts have no address, and which pictures of a series are missing.
    func reportRemaining() {
        for name in unsupported { say("\(SafeText.visible(name)): left out, because only that authenticator computes its codes.") }
        let count = places.map(\.count).max() ?? 0
        for place in places where Set(places.map(\.number)).count < count {
            say("This is code \(place.number) of \(place.count) of the export. The others have further accounts.")
        }
    }

    /// Returns the decoded data of a migration code, or nil for any other text.
    private static func message(in text: SecretBox) throws -> SecretBytes? {
        let prefix = Array(MigrationCodes.prefix.utf8)
        guard text.secret.withUnsafeBytes({ $0.starts(with: prefix) }) else { return nil }
        // The percent escapes of `+`, `/` and `=` in a URL.
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
            throw Refusal(.badParameter, "The migration code's data is not base64")
        }
        return message
    }

    /// Returns the address of an account; nil if an address cannot express its algorithm, digits or type.
    private static func address(_ account: borrowing MigrationCodes.Account) -> SecretBox? {
        let algorithms: [UInt64: String] = [0: "SHA1", 1: "SHA1", 2: "SHA256", 3: "SHA512"]
        let digits: [UInt64: Int] = [0: 6, 1: 6, 2: 8]
        let types: [UInt64: String] = [0: "totp", 1: "hotp", 2: "totp"]
        guard let algorithm = algorithms[account.algorithm], let digits = digits[account.digits], let type = types[account.type] else {
            return nil
        }
        let text = SecretBuilder()
        let (issuer, name) = names(account)
        let label = [issuer, name].map(CodeAddress.escaped).filter { !$0.isEmpty }.joined(separator: ":")
        text.append("otpauth://\(type)/\(label)?secret=")
        text.append(account.secret.withUnsafeBytes { Base32.encode($0) })
        if !issuer.isEmpty { text.append("&issuer=\(CodeAddress.escaped(issuer))") }
        text.append("&algorithm=\(algorithm)&digits=\(digits)")
        text.append(type == "hotp" ? "&counter=\(account.counter)" : "&period=\(OneTimeCodeKey.periodDefault)")
        return text.kept
    }

    /// Returns issuer and name of an account. A name may repeat the issuer before a colon, or be the only place that has it.
    private static func names(_ account: borrowing MigrationCodes.Account) -> (issuer: String, name: String) {
        let (issuer, whole) = (account.issuer, account.name)
        if !issuer.isEmpty, whole.hasPrefix("\(issuer):") { return (issuer, String(whole.dropFirst(issuer.count + 1))) }
        let parts = whole.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return (issuer, whole) }
        return (issuer.isEmpty ? String(parts[0]) : issuer, String(parts[1]))
    }
}
