import Foundation
import Glibc
import VaubanRefusal
import VaubanSecretBytes

/// The format of a file by its first bytes.
enum ImportSource {
    case encryptedExport
    case json
    case xml
    case zip
    case csv

    static let bytesMax = 256 << 20

    init(_ content: borrowing SecretBytes) throws(Refusal) {
        if ExportReading.isOne(content) { self = .encryptedExport; return }
        let (head, first) = content.withUnsafeBytes { bytes in
            (Array(bytes.prefix(4)), bytes.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) })
        }
        switch (head, first) {
        case ([0x50, 0x4B, 0x03, 0x04], _), ([0x50, 0x4B, 0x05, 0x06], _): self = .zip
        case ([0x03, 0xD9, 0xA2, 0x9A], _):
            throw Refusal(
                .badParameter,
                "This is an encrypted KeePass database; export it with KeePassXC: "
                    + "keepassxc-cli export --format xml FILE | vauban import -"
            )
        case _ where content.withUnsafeBytes({ $0.starts(with: BackupFormat.family) }):
            throw Refusal(.badParameter, "This is a backup of vauban backup; to restore it: vauban restore FILE")
        case _ where content.withUnsafeBytes({ $0.starts(with: Array("-----BEGIN ".utf8)) }):
            throw Refusal(
                .badParameter,
                "This is a key or a certificate; for ssh: vauban ssh import FILE; to store the file as a secret: vauban set NAME <FILE")
        case (_, 0x5B), (_, 0x7B): self = .json
        case (_, 0x3C): self = .xml
        default: self = .csv
        }
    }
}
