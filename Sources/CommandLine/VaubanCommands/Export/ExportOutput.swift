import Foundation
import Glibc
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// The destination of an export: standard output, or a new file that only the user can read and that gets its name when it is complete. An
/// existing file is never overwritten.
final class ExportOutput {
    private let path: String
    /// Nil for standard output.
    private let file: NewFile?
    private var bytes = 0

    init(path: String) throws(Refusal) {
        self.path = path
        guard path != "-" else {
            file = nil
            return
        }
        var status = stat()
        // A link exists even if it leads nowhere.
        guard lstat(path, &status) != 0 else { throw Self.exists(path) }
        file = try NewFile(path: path)
    }

    func write(_ bytes: [UInt8]) throws(Refusal) {
        try take(bytes.count)
        if let file { return try file.write(bytes) }
        guard bytes.withUnsafeBytes({ writeAll($0, to: STDOUT_FILENO) }) else { throw failed() }
    }

    func write(_ secret: borrowing SecretBytes) throws(Refusal) {
        try take(secret.count)
        if let file { return try file.write(secret) }
        guard isatty(STDOUT_FILENO) == 0 || secret.isTextForTerminal() else {
            throw Refusal(
                .badParameter, "A secret contains control characters and was not written to the terminal; redirect the output")
        }
        guard secret.withUnsafeBytes({ writeAll($0, to: STDOUT_FILENO) }) else { throw failed() }
    }

    /// Finishes the output. When this returns, a file survives a power failure.
    func finish() throws(Refusal) {
        guard let file else { return }
        try file.sync()
        guard try file.nameUnlessTaken() else { throw Self.exists(path) }
    }

    private static func exists(_ path: String) -> Refusal {
        Refusal(.badParameter, "\(SafeText.visible(path)) already exists; choose another file, or remove it first")
    }

    /// Enforces the limits that import applies when reading.
    private func take(_ count: Int) throws(Refusal) {
        bytes += count
        guard bytes <= ImportSource.bytesMax else {
            throw Refusal(
                .storageFull, "The export would be larger than 256 MiB, the limit of vauban import; nothing was written")
        }
    }

    private func failed() -> Refusal {
        let fault = SystemError("write the export", code: errno)
        return fault.isFullDisk ? Refusal(.storageFull) : Refusal(.storageFailed, fault.description)
    }
}

/// A writer of an export: items one after the other, then an end.
protocol ExportWriter {
    mutating func write(_ record: ItemRecord, _ secret: borrowing SecretBytes) throws
    mutating func finish() throws
}

/// An export that is encrypted under a passphrase.
struct EncryptedExport: ExportWriter {
    private let output: ExportOutput
    private var cipher: ExportCipher
    private var items = 0

    init(_ output: ExportOutput, passphrase: borrowing SecretBytes) throws {
        self.output = output
        cipher = try ExportCipher(passphrase: passphrase)
        try output.write(cipher.header)
    }

    mutating func write(_ record: ItemRecord, _ secret: borrowing SecretBytes) throws {
        items += 1
        try writeFrame(try ExportFrame.plaintext(record, secret), isLast: false)
    }

    mutating func finish() throws {
        try writeFrame(SecretBytes(copying: BackupFormat.number(items)), isLast: true)
        try output.finish()
    }

    private mutating func writeFrame(_ plaintext: borrowing SecretBytes, isLast: Bool) throws {
        let sealed = try cipher.seal(plaintext, isLast: isLast)
        try output.write(BackupFormat.number(sealed.count) + sealed)
    }
}

/// An export as JSON with every secret in plain text, for `vauban add --json` and `vauban import`.
struct PlainExport: ExportWriter {
    private let output: ExportOutput
    private var isFirst = true

    init(_ output: ExportOutput) { self.output = output }

    mutating func write(_ record: ItemRecord, _ secret: borrowing SecretBytes) throws {
        let text = try ItemDescription.json(ItemDescription(record))
        guard let end = text.lastIndex(of: "}") else { throw Refusal(.internalError, "an item cannot be described") }
        let front = String(text[..<end].reversed().drop { $0.isWhitespace }.reversed())
        try output.write(Array(((isFirst ? "[\n" : ",\n") + front + ",\n  \"secret\" : ").utf8))
        isFirst = false
        if secret.isTextForTerminal() {
            try output.write(Array("\"".utf8))
            try output.write(Self.escaped(secret))
            try output.write(Array("\"\n}".utf8))
        } else {
            try output.write(Array("{ \"base64\" : \"".utf8))
            try output.write(SecretBase64.text(of: secret))
            try output.write(Array("\" }\n}".utf8))
        }
    }

    mutating func finish() throws {
        try output.write(Array((isFirst ? "[]\n" : "\n]\n").utf8))
        try output.finish()
    }

    /// Escapes text in which only quotes, backslashes, line ends and tabs need it.
    private static func escaped(_ secret: borrowing SecretBytes) -> SecretBytes {
        let escapes: [UInt8: UInt8] = [0x22: 0x22, 0x5C: 0x5C, 0x0A: 0x6E, 0x0D: 0x72, 0x09: 0x74]
        return secret.withUnsafeBytes { bytes in
            SecretBytes(count: bytes.count + bytes.count { escapes[$0] != nil }) { target in
                var position = 0
                for byte in bytes {
                    if let sign = escapes[byte] {
                        target[position] = 0x5C
                        target[position + 1] = sign
                        position += 2
                    } else {
                        target[position] = byte
                        position += 1
                    }
                }
            }
        }
    }
}
