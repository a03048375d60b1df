// The two ciphers of old PKCS #12 files, for decryption only. Neither is secure, and swift-crypto omits them on purpose. The file's MAC has
// been verified before their output is used, and the parsers of keys and certificates check it afterwards.

/// A cipher with blocks of eight bytes.
protocol OldBlockCipher {
    /// Decrypts a block, given as a big-endian number.
    func decrypt(block: UInt64) -> UInt64
}

extension OldBlockCipher {
    /// Decrypts in CBC mode and removes the padding (RFC 8018, 6.1.1).
    func decrypt(_ bytes: ArraySlice<UInt8>, vector: [UInt8]) throws -> Data {
        guard vector.count == 8, !bytes.isEmpty, bytes.count.isMultiple(of: 8) else { throw PKCS12File.malformed }
        var previous = Self.number(vector[...])
        var clear = Data(capacity: bytes.count)
        for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: 8) {
            let block = Self.number(bytes[start..<start + 8])
            withUnsafeBytes(of: (decrypt(block: block) ^ previous).bigEndian) { clear.append(contentsOf: $0) }
            previous = block
        }
        guard let padding = clear.last, (1...8).contains(padding), clear.suffix(Int(padding)).allSatisfy({ $0 == padding }) else {
            throw PKCS12File.malformed
        }
        return clear.prefix(clear.count - Int(padding))
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// RC2 (RFC 2268).
struct RC2: OldBlockCipher {
    private let words: [UInt16]

    init(key: UnsafeRawBufferPointer, effectiveBits: Int) throws {
        guard (1...128).contains(key.count), (1...1024).contains(effectiveBits) else { throw PKCS12File.malformed }
        var bytes = Array(key)
        while bytes.count < 128 { bytes.append(Self.pi[Int(bytes[bytes.count - 1] &+ bytes[bytes.count - key.count])]) }
        let effectiveBytes = (effectiveBits + 7) / 8
        bytes[128 - effectiveBytes] = Self.pi[Int(bytes[128 - effectiveBytes] & (0xFF >> UInt8(8 * effectiveBytes - effectiveBits)))]
        for place in (0..<128 - effectiveBytes).reversed() { bytes[place] = Self.pi[Int(bytes[place + 1] ^ bytes[place + effectiveBytes])] }
        words = (0..<64).map { UInt16(bytes[2 * $0]) | UInt16(bytes[2 * $0 + 1]) << 8 }
    }

    func decrypt(block: UInt64) -> UInt64 {
        var parts = (0..<4).map { UInt16(truncatingIfNeeded: block >> UInt64(48 - 16 * $0)).byteSwapped }
        var next = 63
        for round in (0..<16).reversed() {
            for place in (0..<4).reversed() {
                let shift = UInt16([1, 2, 3, 5][place])
                let (one, two, three) = (parts[(place + 3) % 4], parts[(place + 2) % 4], parts[(place + 1) % 4])
                parts[place] = parts[place] >> shift | parts[place] << (16 - shift)
                parts[place] = parts[place] &- words[next] &- (one & two) &- (~one & three)
                next -= 1
            }
            guard round == 11 || round == 5 else { continue }
            for place in (0..<4).reversed() { parts[place] = parts[place] &- words[Int(parts[(place + 3) % 4] & 63)] }
        }
        return parts.reduce(0) { $0 << 16 | UInt64($1.byteSwapped) }
    }

    /// Digits of pi, in the order of the RFC.
    private static let pi: [UInt8] = [
        0xd9, 0x78, 0xf9, 0xc4, 0x19, 0xdd, 0xb5, 0xed, 0x28, 0xe9, 0xfd, 0x79, 0x4a, 0xa0, 0xd8, 0x9d, 0xc6, 0x7e, 0x37, 0x83, 0x2b, 0x76,
        0x53, 0x8e,
        0x62, 0x4c, 0x64, 0x88, 0x44, 0x8b, 0xfb, 0xa2, 0x17, 0x9a, 0x59, 0xf5, 0x87, 0xb3, 0x4f, 0x13, 0x61, 0x45, 0x6d, 0x8d, 0x09, 0x81,
        0x7d, 0x32,
        0xbd, 0x8f, 0x40, 0xeb, 0x86, 0xb7, 0x7b, 0x0b, 0xf0, 0x95, 0x21, 0x22, 0x5c, 0x6b, 0x4e, 0x82, 0x54, 0xd6, 0x65, 0x93, 0xce, 0x60,
        0xb2, 0x1c,
        0x73, 0x56, 0xc0, 0x14, 0xa7, 0x8c, 0xf1, 0xdc, 0x12, 0x75, 0xca, 0x1f, 0x3b, 0xbe, 0xe4, 0xd1, 0x42, 0x3d, 0xd4, 0x30, 0xa3, 0x3c,
        0xb6, 0x26,
        0x6f, 0xbf, 0x0e, 0xda, 0x46, 0x69, 0x07, 0x57, 0x27, 0xf2, 0x1d, 0x9b, 0xbc, 0x94, 0x43, 0x03, 0xf8, 0x11, 0xc7, 0xf6, 0x90, 0xef,
        0x3e, 0xe7,
        0x06, 0xc3, 0xd5, 0x2f, 0xc8, 0x66, 0x1e, 0xd7, 0x08, 0xe8, 0xea, 0xde, 0x80, 0x52, 0xee, 0xf7, 0x84, 0xaa, 0x72, 0xac, 0x35, 0x4d,
        0x6a, 0x2a,
        0x96, 0x1a, 0xd2, 0x71, 0x5a, 0x15, 0x49, 0x74, 0x4b, 0x9f, 0xd0, 0x5e, 0x04, 0x18, 0xa4, 0xec, 0xc2, 0xe0, 0x41, 0x6e, 0x0f, 0x51,
        0xcb, 0xcc,
        0x24, 0x91, 0xaf, 0x50, 0xa1, 0xf4, 0x70, 0x39, 0x99, 0x7c, 0x3a, 0x85, 0x23, 0xb8, 0xb4, 0x7a, 0xfc, 0x02, 0x36, 0x5b, 0x25, 0x55,
        0x97, 0x31,
        0x2d, 0x5d, 0xfa, 0x98, 0xe3, 0x8a, 0x92, 0xae, 0x05, 0xdf, 0x29, 0x10, 0x67, 0x6c, 0xba, 0xc9, 0xd3, 0x00, 0xe6, 0xcf, 0xe1, 0x9e,
        0xa8, 0x2c,
        0x63, 0x16, 0x01, 0x3f, 0x58, 0xe2, 0x89, 0xa9, 0x0d, 0x38, 0x34, 0x1b, 0xab, 0x33, 0xff, 0xb0, 0xbb, 0x48, 0x0c, 0x5f, 0xb9, 0xb1,
        0xcd, 0x2e,
        0xc5, 0xf3, 0xdb, 0x47, 0xe5, 0xa5, 0x9c, 0x77, 0x0a, 0xa6, 0x20, 0x68, 0xfe, 0x7f, 0xc1, 0xad,
    ]
}

/// Triple DES with three keys (FIPS 46-3).
struct TripleDES: OldBlockCipher {
    /// For each of the three keys, the 48-bit subkeys of its sixteen rounds.
    private let keys: [[UInt64]]

    init(key: UnsafeRawBufferPointer) throws {
        guard key.count == 24 else { throw PKCS12File.malformed }
        keys = (0..<3).map { third in Self.rounds(of: key[third * 8..<third * 8 + 8].reduce(0) { $0 << 8 | UInt64($1) }) }
    }

    func decrypt(block: UInt64) -> UInt64 {
        Self.run(keys[0].reversed(), Self.run(keys[1], Self.run(keys[2].reversed(), block)))
    }

    private static func run(_ keys: some Sequence<UInt64>, _ block: UInt64) -> UInt64 {
        let start = permuted(block, of: 64, by: DESTables.initial)
        var (left, right) = (start >> 32, start & 0xFFFF_FFFF)
        for key in keys {
            let mixed = permuted(right, of: 32, by: DESTables.expansion) ^ key
            var chosen: UInt64 = 0
            for box in 0..<8 {
                let six = Int(mixed >> UInt64(42 - 6 * box)) & 0x3F
                let (row, column) = ((six >> 4 & 2) | (six & 1), six >> 1 & 0xF)
                chosen = chosen << 4 | UInt64(DESTables.boxes[box][row * 16 + column])
            }
            (left, right) = (right, left ^ permuted(chosen, of: 32, by: DESTables.afterBoxes))
        }
        return permuted(right << 32 | left, of: 64, by: DESTables.last)
    }

    private static func rounds(of key: UInt64) -> [UInt64] {
        let chosen = permuted(key, of: 64, by: DESTables.keyChoice)
        var (left, right) = (chosen >> 28, chosen & 0xFFF_FFFF)
        return (0..<16).map { round in
            let shift: UInt64 = [0, 1, 8, 15].contains(round) ? 1 : 2
            left = (left << shift | left >> (28 - shift)) & 0xFFF_FFFF
            right = (right << shift | right >> (28 - shift)) & 0xFFF_FFFF
            return permuted(left << 28 | right, of: 56, by: DESTables.roundChoice)
        }
    }

    /// Returns the bits that a table selects; 1 is the highest.
    private static func permuted(_ value: UInt64, of width: Int, by table: [UInt8]) -> UInt64 {
        table.reduce(0) { $0 << 1 | (value >> UInt64(width - Int($1))) & 1 }
    }
}
