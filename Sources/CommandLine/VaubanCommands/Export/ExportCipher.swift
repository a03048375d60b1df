import Crypto
import CryptoExtras
import Foundation
import VaubanLinuxHost
import VaubanRefusal
package import VaubanSecretBytes
package import VaubanSecretText

/// The format of an encrypted export in a file (Specs/export.md).
package enum ExportFormat {
    package static let magic = Array("VAUBAN EXPORT 1\n".utf8)
    package static let saltBytes = 16
    package static let headerBytes = 16 + 16 + 3
    package static let tagBytes = 16
    /// The limit for one frame's plaintext: a value of 1 MiB and attributes.
    package static let frameBytesMax = 4 << 20
    package static let passphraseBytesMax = 1024
    /// The minimum length. A passphrase can be guessed offline, without a counter of attempts.
    package static let passphraseBytesMin = 8
}

/// The cost of trying a passphrase: scrypt (RFC 7914) with N a power of two.
package struct ExportCost: Hashable {
    package var logN: UInt8 = 17
    package var r: UInt8 = 8
    package var p: UInt8 = 1

    /// Whether the parameters are within bounds. A file's header determines 128 · N · r bytes of memory before anything is authenticated.
    package var isAllowed: Bool { (14...20).contains(logN) && r == 8 && (1...4).contains(p) }

    /// Returns the key derived from a passphrase. `what` names the encrypted file in the error.
    func key(_ passphrase: borrowing SecretBytes, salt: [UInt8], of what: String) throws(Refusal) -> SymmetricKey {
        do {
            return try passphrase.withUnsafeBytes { bytes in
                try KDF.Scrypt.deriveKey(
                    from: bytes, salt: salt, outputByteCount: 32, rounds: 1 << Int(logN), blockSize: Int(r), parallelism: Int(p),
                    maxMemory: 256 << Int(logN) * Int(r))
            }
        } catch {
            throw Refusal(.unavailable, "Too little memory to derive the key of the \(what)")
        }
    }
}

/// The key of one file and the cipher of its numbered frames. The salt is new for each file, so no nonce is used twice with a key.
package struct ExportCipher {
    package let header: [UInt8]
    private let key: SymmetricKey
    private var frame: UInt64 = 0

    /// Creates the cipher for a new file.
    package init(passphrase: borrowing SecretBytes) throws {
        let cost = ExportCost()
        var salt = [UInt8](repeating: 0, count: ExportFormat.saltBytes)
        let drawn = try Entropy.secret(ExportFormat.saltBytes)
        drawn.withUnsafeBytes { salt = Array($0) }
        header = ExportFormat.magic + salt + [cost.logN, cost.r, cost.p]
        key = try cost.key(passphrase, salt: salt, of: "export")
    }

    /// Creates the cipher for an existing file's header.
    package init(header: [UInt8], passphrase: borrowing SecretBytes) throws {
        let cost = ExportCost(logN: header[32], r: header[33], p: header[34])
        guard cost.isAllowed else { throw Refusal(.badParameter, "The export needs more computation than this version allows") }
        self.header = header
        key = try cost.key(passphrase, salt: Array(header[16..<32]), of: "export")
    }

    /// Returns ciphertext and tag of the next frame.
    package mutating func seal(_ plaintext: borrowing SecretBytes, isLast: Bool) throws -> [UInt8] {
        let nonce = try AES.GCM.Nonce(data: next(isLast))
        let box = try plaintext.withUnsafeBytes { try AES.GCM.seal($0, using: key, nonce: nonce, authenticating: header) }
        return Array(box.ciphertext) + Array(box.tag)
    }

    /// Returns the next frame's plaintext and whether it is the last, or nil if authentication fails.
    package mutating func open(_ sealed: UnsafeRawBufferPointer) -> (isLast: Bool, plaintext: SecretBox)? {
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

    /// Returns the next nonce: eleven bytes of the frame's number, and one that marks the last frame so that truncation is detected.
    private mutating func next(_ isLast: Bool) -> [UInt8] {
        defer { frame += 1 }
        return [0, 0, 0] + withUnsafeBytes(of: frame.bigEndian) { Array($0) } + [isLast ? 1 : 0]
    }
}
