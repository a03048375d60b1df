import VaubanKeychainModel
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// An encrypted export that is being read.
struct ExportReading: ~Copyable {
    private let content: SecretBytes

    static func isOne(_ content: borrowing SecretBytes) -> Bool { content.withUnsafeBytes { $0.starts(with: ExportFormat.magic) } }

    init(_ content: consuming SecretBytes) { self.content = content }

    /// Calls `body` with each item. Decrypts the whole file once before, so that nothing is used from a truncated or modified file.
    borrowing func forEach(passphrase: borrowing SecretBytes, _ body: (Int, ItemRecord, borrowing SecretBytes) throws -> Void) throws {
        guard content.count > ExportFormat.headerBytes else { throw Self.broken }
        let header = content.withUnsafeBytes { Array($0[..<ExportFormat.headerBytes]) }
        let cipher = try ExportCipher(header: header, passphrase: passphrase)
        try walk(cipher) { _, _ in }
        var number = 0
        try walk(cipher) { record, secret in
            number += 1
            try body(number, record, secret)
        }
    }

    private static let broken = Refusal(.badParameter, "The export is damaged or incomplete; nothing was imported")

    private borrowing func walk(_ start: ExportCipher, _ body: (ItemRecord, borrowing SecretBytes) throws -> Void) throws {
        var cipher = start
        var position = ExportFormat.headerBytes
        var items = 0
        while true {
            let (from, isFirst) = (position, items == 0)
            let length = content.withUnsafeBytes { ExportFrame.number(in: UnsafeRawBufferPointer(rebasing: $0[from...])) }
            guard let length, length > ExportFormat.tagBytes, length <= ExportFormat.frameBytesMax, length <= content.count - from - 4
            else { throw Self.broken }
            let opened = content.withUnsafeBytes { cipher.open(UnsafeRawBufferPointer(rebasing: $0[(from + 4)..<(from + 4 + length)])) }
            guard let opened else {
                throw isFirst
                    ? Refusal(.authenticationFailed, "wrong passphrase, or the export is damaged") : Self.broken
            }
            position += 4 + length
            if opened.isLast {
                let said = opened.plaintext.secret.withUnsafeBytes { ExportFrame.number(in: $0) }
                guard position == content.count, opened.plaintext.secret.count == 4, said == items else { throw Self.broken }
                return
            }
            guard let (record, range) = ExportFrame.record(of: opened.plaintext.secret) else { throw Self.broken }
            items += 1
            try body(record, opened.plaintext.secret.part(range))
        }
    }
}
