import Crypto
import CryptoExtras
import Foundation
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// How an encrypted export lies in a file (Specs/export.md).
enum ExportFormat {
    static let magic = Array("VAUBAN EXPORT 1\n".utf8)
    static let saltBytes = 16
    static let headerBytes = 16 + 16 + 3
    static let tagBytes = 16
    /// Of one frame's plaintext: a value of 1 MiB and attributes.
    static let frameBytesMax = 4 << 20
    static let passphraseBytesMax = 1024
    /// A passphrase is guessed offline, without any counter.
    static let passphraseBytesMin = 8
}

/// What it costs to try a passphrase: scrypt (RFC 7914) with N a power of two.
struct ExportCost: Hashable {
    var logN: UInt8 = 17
    var r: UInt8 = 8
    var p: UInt8 = 1

    /// What is read from a file is bounded: 128 · N · r bytes are taken before anything is known of it.
    var isAllowed: Bool { (14...20).contains(logN) && r == 8 && (1...4).contains(p) }
}

/// The key of one file, and its frames by number. The key is of a fresh salt, so no nonce is ever used twice under it.
struct ExportCipher {
    let header: [UInt8]
    private let key: SymmetricKey
    private var frame: UInt64 = 0

    /// For a new file.
    init(passphrase: borrowing SecretBytes) throws {
        let cost = ExportCost()
        var salt = [UInt8](repeating: 0, count: ExportFormat.saltBytes)
        let drawn = try Entropy.secret(ExportFormat.saltBytes)
        drawn.withUnsafeBytes { salt = Array($0) }
        header = ExportFormat.magic + salt + [cost.logN, cost.r, cost.p]
        key = try Self.key(passphrase, salt, cost)
    }

    /// For a file's header.
    init(header: [UInt8], passphrase: borrowing SecretBytes) throws {
        let cost = ExportCost(logN: header[32], r: header[33], p: header[34])
        guard cost.isAllowed else { throw Refusal(.badParameter, "the export asks for a cost that this program does not pay") }
        self.header = header
        key = try Self.key(passphrase, Array(header[16..<32]), cost)
    }

    private static func key(_ passphrase: borrowing SecretBytes, _ salt: [UInt8], _ cost: ExportCost) throws -> SymmetricKey {
        do {
            return try passphrase.withUnsafeBytes { bytes in
                try KDF.Scrypt.deriveKey(
                    from: bytes, salt: salt, outputByteCount: 32, rounds: 1 << Int(cost.logN), blockSize: Int(cost.r),
                    parallelism: Int(cost.p),
                    maxMemory: 256 << Int(cost.logN) * Int(cost.r))
            }
        } catch {
            throw Refusal(.unavailable, "there is too little memory to make the key of the export")
        }
    }

    /// Ciphertext and tag of the next frame.
    mutating func seal(_ plaintext: borrowing SecretBytes, isLast: Bool) throws -> [UInt8] {
        let nonce = try AES.GCM.Nonce(data: next(isLast))
        let box = try plaintext.withUnsafeBytes { try AES.GCM.seal($0, using: key, nonce: nonce, authenticating: header) }
        return Array(box.ciphertext) + Array(box.tag)
    }

    /// The next frame's plaintext, and whether it is the last; nil where it does not open.
    mutating func open(_ sealed: UnsafeRawBufferPointer) -> (isLast: Bool, plaintext: SecretBox)? {
        let number = frame
        for isLast in [false, true] {
            frame = number
            if let plaintext = try? open(sealed, isLast) { return (isLast, plaintext) }
        }
        return nil
    }

    private mutating func open(_ sealed: UnsafeRawBufferPointer, _ isLast: Bool) throws -> SecretBox {
        let nonce = try AES.GCM.Nonce(data: next(isLast))
        let box = try AES.GCM.SealedBox(
            nonce: nonce, ciphertext: sealed.dropLast(ExportFormat.tagBytes), tag: sealed.suffix(ExportFormat.tagBytes))
        var opened = try AES.GCM.open(box, using: key, authenticating: header)
        return SecretBox(SecretBytes(absorbing: &opened))
    }

    /// Eleven bytes of the frame's number, and one that says whether it is the last: so a file that is cut off is known.
    private mutating func next(_ isLast: Bool) -> [UInt8] {
        defer { frame += 1 }
        return [0, 0, 0] + withUnsafeBytes(of: frame.bigEndian) { Array($0) } + [isLast ? 1 : 0]
    }
}

/// A secret in something that can be handed on.
final class SecretBox {
    let secret: SecretBytes
    init(_ secret: consuming SecretBytes) { self.secret = secret }
}
