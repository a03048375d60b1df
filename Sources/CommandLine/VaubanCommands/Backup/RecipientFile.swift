import Crypto
import Foundation
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal

/// The recipient of backups as a file: its public key as text (Specs/backup.md).
enum RecipientFile {
    private static let family = "VAUBAN RECIPIENT "
    private static let heading = "VAUBAN RECIPIENT 1"
    private static let bytesMax = 8192
    private static let charactersPerLine = 64

    /// Returns a file that is written and synchronized, and has no name yet.
    static func unnamed(_ recipient: [UInt8], at path: String) throws(Refusal) -> NewFile {
        let output = try NewFile(path: path)
        try output.write(Array(text(recipient).utf8))
        try output.sync()
        return output
    }

    /// Gives a written file its name. Everybody may read a public key.
    static func name(_ file: NewFile) throws(Refusal) { try file.name(replacing: false, mode: 0o644) }

    static func read(_ path: String) throws(Refusal) -> [UInt8] {
        guard let bytes = try BackupFiles.read(path, max: bytesMax) else {
            throw Refusal(.badParameter, SystemError("open \(SafeText.visible(path))", code: ENOENT).sentence)
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        guard let first = lines.first, first.hasPrefix(family) else {
            throw Refusal(.badParameter, "\(SafeText.visible(path)) is not a recipient; make one: vauban backup --new-recipient FILE")
        }
        guard first == heading else {
            throw Refusal(.unsupported, "The recipient was made by a later version of Vauban; update Vauban")
        }
        guard lines.count > 2, let recipient = Data(base64Encoded: lines.dropFirst(2).joined()),
            recipient.count == BackupRequest.recipientBytes, lines[1] == "sha256 \(hex(digest(Array(recipient))))"
        else { throw Refusal(.badParameter, "The recipient in \(SafeText.visible(path)) is damaged; use another copy of it") }
        return Array(recipient)
    }

    static func digest(_ recipient: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: recipient)) }

    static func hex(_ bytes: [UInt8]) -> String { StoredBackupFolder.hex(bytes) }

    private static func text(_ recipient: [UInt8]) -> String {
        let digits = Array(Data(recipient).base64EncodedString())
        let lines = stride(from: 0, to: digits.count, by: charactersPerLine).map {
            String(digits[$0..<min($0 + charactersPerLine, digits.count)])
        }
        return ([heading, "sha256 \(hex(digest(recipient)))"] + lines).joined(separator: "\n") + "\n"
    }
}
