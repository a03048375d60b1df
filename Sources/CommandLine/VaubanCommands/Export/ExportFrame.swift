import VaubanDER
import VaubanKeychainModel
import VaubanSecretBytes

/// The frame of an item in an export: the length of its record in four bytes, the record in DER, then its secret.
enum ExportFrame {
    static func plaintext(_ record: ItemRecord, _ secret: borrowing SecretBytes) throws -> SecretBytes {
        let header = try record.encoded()
        return secret.withUnsafeBytes { value in
            SecretBytes(count: 4 + header.count + value.count) { target in
                target.copyBytes(from: BackupFormat.number(header.count) + header)
                UnsafeMutableRawBufferPointer(rebasing: target[(4 + header.count)...]).copyMemory(from: value)
            }
        }
    }

    /// Decodes a frame, or returns nil if it is invalid.
    static func record(of plaintext: borrowing SecretBytes) -> (record: ItemRecord, secret: Range<Int>)? {
        let count = plaintext.count
        guard let length = plaintext.withUnsafeBytes({ number(in: $0) }), length <= count - 4 else { return nil }
        let der = plaintext.withUnsafeBytes { Array($0[4..<4 + length]) }
        guard let record = try? ItemRecord(derBytes: der) else { return nil }
        return (record, 4 + length..<count)
    }

    static func number(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
    }
}
