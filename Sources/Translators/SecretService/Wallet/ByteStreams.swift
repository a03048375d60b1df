/// A cursor over bytes that are read in order.
struct ByteInput {
    let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var left: Int { bytes.count - position }
    var isAtEnd: Bool { left == 0 }

    /// Skips white space. Returns whether nothing else is left.
    var isAtEndAfterSpace: Bool {
        mutating get {
            skipSpace()
            return isAtEnd
        }
    }

    mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        position += 1
        return bytes[position - 1]
    }

    /// Returns 16 bits, the most significant byte first.
    mutating func unit() -> UInt16? {
        guard left >= 2, let high = byte(), let low = byte() else { return nil }
        return UInt16(high) << 8 | UInt16(low)
    }

    mutating func number() -> UInt32? {
        guard left >= 4, let high = unit(), let low = unit() else { return nil }
        return UInt32(high) << 16 | UInt32(low)
    }

    /// Skips white space, then an ASCII character if it is next. Returns whether it was.
    mutating func takes(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func takesNull() -> Bool {
        skipSpace()
        guard left >= 4, bytes[position..<position + 4].elementsEqual("null".utf8) else { return false }
        position += 4
        return true
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }
}

/// Writes bytes in order, or only counts them if there is no target.
struct ByteOutput {
    private let target: UnsafeMutableRawBufferPointer?
    private(set) var count = 0

    init(target: UnsafeMutableRawBufferPointer? = nil) { self.target = target }

    mutating func put(_ byte: UInt8) {
        if let target, count < target.count { target[count] = byte }
        count += 1
    }

    mutating func put(_ text: StaticString) {
        for index in 0..<text.utf8CodeUnitCount { put(text.utf8Start[index]) }
    }

    mutating func put(unit: UInt16) {
        put(UInt8(unit >> 8))
        put(UInt8(truncatingIfNeeded: unit))
    }

    mutating func put(number: UInt32) {
        put(unit: UInt16(number >> 16))
        put(unit: UInt16(truncatingIfNeeded: number))
    }

    /// Writes a character in UTF-8.
    mutating func put(scalar: UInt32) {
        func last(_ shift: UInt32) -> UInt8 { UInt8(0x80 | scalar >> shift & 0x3F) }
        switch scalar {
        case 0..<0x80: put(UInt8(scalar))
        case 0x80..<0x800:
            put(UInt8(0xC0 | scalar >> 6))
            put(last(0))
        case 0x800..<0x10000:
            put(UInt8(0xE0 | scalar >> 12))
            put(last(6))
            put(last(0))
        default:
            put(UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18))
            put(last(12))
            put(last(6))
            put(last(0))
        }
    }
}

enum UTF8Text {
    /// Whether bytes are valid UTF-8.
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue: continue
            case .emptyInput: return true
            case .error: return false
            }
        }
    }

    /// Whether bytes can be a D-Bus string.
    static func isString(_ bytes: UnsafeRawBufferPointer) -> Bool { !bytes.contains(0) && isValid(bytes) }
}
