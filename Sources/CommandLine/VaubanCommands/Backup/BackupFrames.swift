import Crypto
import Foundation
import VaubanRefusal
package import VaubanSecretBytes

/// The format of a backup in a file or folder (Specs/backup.md).
package enum BackupFormat {
    package static let magic = Array("VAUBAN BACKUP 1\n".utf8)
    /// The first bytes of every version.
    static let family = Array("VAUBAN BACKUP ".utf8)
    static let keybagBytesMax = 4096
    static let frameBytesMax = 8 << 20
    /// A manifest has 32 bytes for each item, and 44 for each segment.
    static let manifestBytesMax = 512 << 20
    /// The size at which a segment is written.
    static let segmentBytes = 1 << 20

    /// Returns the header of a backup.
    static func header(_ keybag: [UInt8]) -> [UInt8] { magic + number(keybag.count) + keybag }

    static func number(_ count: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(count).bigEndian) { Array($0) } }
}

/// The name of a frame, to which its ciphertext is bound.
enum FrameName {
    case inFile(number: Int, isLast: Bool)
    case segment
    case manifest
    /// The state that a folder keeps between runs.
    case memory
    /// A file of vauban sync, and a device's state of it (Specs/sync.md).
    case syncFile(device: [UInt8], number: Int64)
    case syncState
    /// The replacement of a device's first file.
    case syncRecord(device: [UInt8])
    /// A device's report on the access logs, and its record of them.
    case logHead(device: [UInt8])
    case syncHeads
    /// A prompt that a device forwards, and the answer to it (Specs/forwarded-prompts.md).
    case forwardedPrompt(device: [UInt8])
    case forwardedAnswer(device: [UInt8])

    var bytes: [UInt8] {
        switch self {
        case .inFile(let number, let isLast):
            Array("frame".utf8) + withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) } + [isLast ? 1 : 0]
        case .segment: Array("segment".utf8)
        case .manifest: Array("manifest".utf8)
        case .memory: Array("memory".utf8)
        case .syncFile(let device, let number):
            Array("sync file".utf8) + device + withUnsafeBytes(of: number.bigEndian) { Array($0) }
        case .syncState: Array("sync state".utf8)
        case .syncRecord(let device): Array("sync record".utf8) + device
        case .logHead(let device): Array("log head".utf8) + device
        case .syncHeads: Array("sync log heads".utf8)
        case .forwardedPrompt(let device): Array("forwarded prompt".utf8) + device
        case .forwardedAnswer(let device): Array("forwarded answer".utf8) + device
        }
    }
}

/// The cipher of the frames of one backup, or of one key of a circle. The frames contain items that are encrypted already, and manifests.
package struct FrameCipher {
    private let key: SymmetricKey

    package init(_ key: borrowing SecretBytes) { self.key = key.withUnsafeBytes { SymmetricKey(data: $0) } }

    private init(_ key: SymmetricKey) { self.key = key }

    /// Returns the cipher of a key that is derived from this one (key-hierarchy.md).
    package func derived(label: String, context: [UInt8]) -> FrameCipher {
        FrameCipher(
            HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Array(label.utf8) + [0] + context, outputByteCount: 32))
    }

    func seal(_ plaintext: [UInt8], _ name: FrameName) throws -> [UInt8] {
        guard let sealed = try AES.GCM.seal(plaintext, using: key, authenticating: name.bytes).combined else {
            throw Refusal(.internalError, "a frame of the backup cannot be sealed")
        }
        return Array(sealed)
    }

    /// Decrypts a frame. Returns nil unless it belongs to this backup and has this name.
    func open(_ sealed: [UInt8], _ name: FrameName) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let plaintext = try? AES.GCM.open(box, using: key, authenticating: name.bytes)
        else { return nil }
        return Array(plaintext)
    }
}

/// A reader of numbers and byte strings from the front; its methods return nil at the end.
struct ByteReader {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func take(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= bytes.count - position else { return nil }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    mutating func number() -> Int? { take(4).map { $0.reduce(0) { $0 << 8 | Int($1) } } }

    mutating func date() -> Int64? { take(8).map { Int64(bitPattern: $0.reduce(0) { $0 << 8 | UInt64($1) }) } }
}
