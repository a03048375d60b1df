import VaubanKeychainModel
import VaubanRefusal
import VaubanSecretBytes

/// An encrypted export, read back.
struct ExportReading: ~Copyable {
    private let content: SecretBytes

    static func isOne(_ content: borrowing SecretBytes) -> Bool { content.withUnsafeBytes { $0.starts(with: ExportFormat.magic) } }

    init(_ content: consuming SecretBytes) { self.content = content }

    /// Calls back with each item. The whole file is opened once before, so that nothing is taken from one that was cut off or altered.
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

    private static let broken = Refusal(.badParameter, "the export is damaged or cut off; nothing of it was taken")

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
                    ? Refusal(.authenticationFailed, "that is not the passphrase of this export, or the export is damaged") : Self.broken
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
