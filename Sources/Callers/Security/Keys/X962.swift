// A signature over a curve as X9.62 writes it.

enum X962 {
    /// `SEQUENCE { r INTEGER, s INTEGER }` of r and s side by side, as they come from the enclave. At most 122 bytes of them, so that
    /// each length is one byte.
    static func signature(ofRaw raw: Data) -> Data {
        let numbers = integer(raw.prefix(raw.count / 2)) + integer(raw.suffix(raw.count / 2))
        return Data([0x30, UInt8(numbers.count)] + numbers)
    }

    /// Without the zeros in front, but for the one that keeps it from being negative.
    private static func integer(_ bytes: Data) -> [UInt8] {
        var digits = bytes.drop { $0 == 0 }[...]
        if digits.isEmpty { digits = bytes.suffix(1) }
        let sign: [UInt8] = digits.first.map { $0 >= 0x80 } == true ? [0] : []
        return [2, UInt8(sign.count + digits.count)] + sign + digits
    }
}
