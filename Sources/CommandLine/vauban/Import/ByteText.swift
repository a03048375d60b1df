import VaubanSecretBytes

/// Bytes as text that a parser of characters can take no two ways: the four bytes that mean something in CSV stand for
/// themselves, each other byte is a Braille sign of its own, which joins with nothing and is no space.
struct ByteText {
    private let encoded: String
    private static let offset: UInt32 = 0x2800

    init(_ encoded: String) { self.encoded = encoded }

    static func encoded(_ bytes: UnsafeRawBufferPointer) -> String {
        var scalars = String.UnicodeScalarView()
        for byte in bytes {
            let isPlain = [0x22, 0x2C, 0x0A, 0x0D].contains(byte)
            if let scalar = Unicode.Scalar(isPlain ? UInt32(byte) : offset + UInt32(byte)) { scalars.append(scalar) }
        }
        return String(scalars)
    }

    var isEmpty: Bool { encoded.isEmpty }

    /// The bytes as text; nil when they are not UTF-8.
    var text: String? { String(validating: bytes, as: UTF8.self) }

    /// The bytes as a secret, without a text of them in between.
    var secret: SecretBytes {
        SecretBytes(count: encoded.unicodeScalars.count) { target in
            for (index, byte) in bytes.enumerated() { target[index] = byte }
        }
    }

    private var bytes: some Sequence<UInt8> {
        encoded.unicodeScalars.lazy.map { UInt8(truncatingIfNeeded: $0.value >= Self.offset ? $0.value - Self.offset : $0.value) }
    }
}
