import Crypto
import Foundation
import VaubanLinuxHost
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes

/// The private half of a recipient, which restores its backups, as text (Specs/backup.md): digits, or encrypted with a passphrase.
struct RestoreKey: ~Copyable {
    private static let family = Array("VAUBAN RESTORE KEY ".utf8)
    private static let heading = "VAUBAN RESTORE KEY 1"
    private static let groups = 16
    private static let bytesMax = 4096
    private static let label = "vauban restore key v1"

    let seed: SecretBytes
    let recipient: [UInt8]

    /// Makes a key pair.
    init() throws {
        let key = try XWingMLKEM768X25519.PrivateKey.generate()
        var seed = key.seedRepresentation
        self.seed = SecretBytes(absorbing: &seed)
        recipient = Array(key.publicKey.rawRepresentation)
    }

    private init(seed: consuming SecretBytes) throws {
        recipient = try seed.withUnsafeBytes {
            Array(try XWingMLKEM768X25519.PrivateKey(seedRepresentation: $0, publicKey: nil).publicKey.rawRepresentation)
        }
        self.seed = seed
    }

    // MARK: Writing

    /// Returns the text: digits or, with a passphrase, the encrypted key.
    func text(passphrase: borrowing SecretBytes?) throws -> SecretBytes {
        let head = "\(Self.heading)\nrecipient \(RecipientFile.hex(RecipientFile.digest(recipient)))\n"
        switch passphrase {
        case .none:
            let digits = CheckedDigits.written(CheckedDigits.encoded(seed), groupsPerLine: 4, indent: 0)
            let bytes = Array(head.utf8)
            return SecretBytes(count: bytes.count + digits.count) { target in
                target.copyBytes(from: bytes)
                digits.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: target[bytes.count...]).copyMemory(from: $0) }
            }
        case .some(let passphrase):
            let cost = ExportCost()
            let salt = try Entropy.secret(ExportFormat.saltBytes).withUnsafeBytes { Array($0) }
            let key = try cost.key(passphrase, salt: salt, of: "restore key")
            let box = try seed.withUnsafeBytes { try AES.GCM.seal($0, using: key, authenticating: Self.bound(recipient)) }
            guard let sealed = box.combined else { throw Refusal(.internalError) }
            let text = "\(head)scrypt \(cost.logN) \(cost.r) \(cost.p) \((Data(salt) + sealed).base64EncodedString())\n"
            return SecretBytes(copying: Array(text.utf8))
        }
    }

    private static func bound(_ recipient: [UInt8]) -> [UInt8] { Array(label.utf8) + [0] + RecipientFile.digest(recipient) }

    // MARK: Reading

    /// Reads a restore key from a file, or from standard input (`-`). Calls `passphrase` if it is encrypted.
    static func read(_ path: String, passphrase: () throws -> SecretBytes) throws -> RestoreKey {
        let text = try InputFile.read(path, max: bytesMax)
        guard text.withUnsafeBytes({ $0.starts(with: family) }) else { return try RestoreKey(seed: seed(ofDigits: text)) }
        var lines = LineReader()
        guard lines.next(text) == heading else {
            throw Refusal(.unsupported, "The restore key was made by a later version of Vauban; update Vauban")
        }
        let named = lines.next(text)
        let rest = text.part(lines.position..<text.count)
        let isEncrypted = rest.withUnsafeBytes { $0.starts(with: Array("scrypt ".utf8)) }
        let key =
            try isEncrypted
            ? RestoreKey(seed: decrypted(rest, named: named, passphrase: passphrase)) : RestoreKey(seed: seed(ofDigits: rest))
        guard named == "recipient \(RecipientFile.hex(RecipientFile.digest(key.recipient)))" else { throw damaged }
        return key
    }

    private static func seed(ofDigits text: borrowing SecretBytes) throws(Refusal) -> SecretBytes {
        let line = text.withUnsafeBytes { bytes in
            SecretBytes(count: bytes.count) { target in
                for (place, byte) in bytes.enumerated() { target[place] = byte == 0x0A || byte == 0x0D ? 0x20 : byte }
            }
        }
        do throws(RecoveryKeyError) {
            return CheckedDigits.bytes(of: try CheckedDigits.read(line, groups: groups))
        } catch {
            switch error {
            case .wrongLength(let digits):
                throw Refusal(.badParameter, "A restore key has \(groups * CheckedDigits.digitsPerGroup) digits, and this has \(digits)")
            case .notADigit: throw Refusal(.badParameter, "This is not a restore key of vauban backup --new-recipient")
            case .typo(let group): throw Refusal(.badParameter, "Group \(group) of \(groups) of the restore key is mistyped")
            }
        }
    }

    private static func decrypted(
        _ rest: borrowing SecretBytes, named: String, passphrase: () throws -> SecretBytes
    ) throws -> SecretBytes {
        let words = String(decoding: rest.disclosed(), as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.count == 5, let logN = UInt8(words[1]), let r = UInt8(words[2]), let p = UInt8(words[3]),
            let data = Data(base64Encoded: words[4]), data.count == ExportFormat.saltBytes + 12 + 32 + 16
        else { throw damaged }
        let cost = ExportCost(logN: logN, r: r, p: p)
        guard cost.isAllowed else { throw Refusal(.badParameter, "The restore key needs more computation than this version allows") }
        let key = try cost.key(try passphrase(), salt: Array(data.prefix(ExportFormat.saltBytes)), of: "restore key")
        guard let digest = bytes(ofHex: named.dropFirst("recipient ".count)) else { throw damaged }
        do {
            let box = try AES.GCM.SealedBox(combined: data.dropFirst(ExportFormat.saltBytes))
            var opened = try AES.GCM.open(box, using: key, authenticating: Array(label.utf8) + [0] + digest)
            return SecretBytes(absorbing: &opened)
        } catch {
            throw Refusal(.authenticationFailed, "the passphrase of the restore key is wrong, or the key was altered")
        }
    }

    private static func bytes(ofHex digits: Substring) -> [UInt8]? {
        let digits = Array(digits)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(digits[place...place + 1]), radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static var damaged: Refusal { Refusal(.badParameter, "The restore key is damaged; use another copy of it") }

    /// Reads lines that are not secret from the front of a text.
    private struct LineReader {
        private(set) var position = 0

        mutating func next(_ text: borrowing SecretBytes) -> String {
            let start = position
            let line = text.withUnsafeBytes { Array($0[start...].prefix { $0 != 0x0A }) }
            position = min(text.count, start + line.count + 1)
            return String(decoding: line, as: UTF8.self)
        }
    }
}
