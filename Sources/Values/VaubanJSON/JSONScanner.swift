// A JSON scanner that leaves strings in place, in memory that is scrubbed. A library would create a `String` of every string, including
// secrets, and would not report line numbers.

/// Why a document is not as expected, with its line and never with its content. The fault is in the document, which comes from a user or a
/// peer.
package struct JSONError: Error, Hashable {
    package let line: Int
    package let why: String

    package init(line: Int, why: String) {
        self.line = line
        self.why = why
    }
}

/// A value in a document. A string is the range between its quotes.
package indirect enum JSONValue {
    case text(Range<Int>)
    case number(Int64)
    /// The range of a number that is not an integer or does not fit into one.
    case fraction(Range<Int>)
    case yes(Bool)
    case null
    case list([JSONValue])
    case object([JSONMember])
}

package struct JSONMember {
    package let key: String
    package let line: Int
    package let value: JSONValue
}

/// A parser of strict JSON (RFC 8259) over bytes: a sequence of values of limited depth and size.
package struct JSONScanner {
    /// The permitted depth, and whether numbers may be other than integers.
    package struct Limits {
        package let depthMax: Int
        package let takesFractions: Bool
        /// The limits for this program's own items, which are flat and have no fractions.
        package static let items = Limits(depthMax: 8, takesFractions: false)
        /// The limits for exports of other programs, which are nested more deeply.
        package static let foreign = Limits(depthMax: 40, takesFractions: true)
    }

    private let bytes: UnsafeRawBufferPointer
    private let limits: Limits
    private var position = 0
    private var values = 0
    package private(set) var line = 1
    private static let valuesMax = 8_000_000

    package init(_ bytes: UnsafeRawBufferPointer, _ limits: Limits = .items) {
        self.bytes = bytes
        self.limits = limits
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// Returns the next value with its line, or nil at the end.
    package mutating func next() throws(JSONError) -> (line: Int, value: JSONValue)? {
        skipSpace()
        guard position < bytes.count else { return nil }
        let start = line
        return (start, try value(depth: 0))
    }

    private func fault(_ why: String) -> JSONError { JSONError(line: line, why: why) }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
            if bytes[position] == 0x0A { line += 1 }
            position += 1
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        guard depth < limits.depthMax else { throw fault("values are nested too deeply") }
        values += 1
        guard values <= Self.valuesMax else { throw fault("too many values") }
        skipSpace()
        guard position < bytes.count else { throw fault("the document ends too early") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return .object(try members(depth))
        case UInt8(ascii: "["): return .list(try elements(depth))
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "-"), 0x30...0x39: return try number()
        default: return try word()
        }
    }

    private mutating func members(_ depth: Int) throws(JSONError) -> [JSONMember] {
        position += 1
        var members: [JSONMember] = []
        var keys: Set<String> = []
        if take(UInt8(ascii: "}")) { return members }
        while true {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw fault("a key in quotes is missing") }
            let start = line
            let range = try string()
            guard let key = JSONText.text(bytes, range) else { throw fault("a key is not valid text") }
            guard keys.insert(key).inserted else { throw fault("a key is repeated") }
            guard take(UInt8(ascii: ":")) else { throw fault("a colon is missing") }
            members.append(JSONMember(key: key, line: start, value: try value(depth: depth + 1)))
            if take(UInt8(ascii: "}")) { return members }
            guard take(UInt8(ascii: ",")) else { throw fault("a comma or a closing brace is missing") }
        }
    }

    private mutating func elements(_ depth: Int) throws(JSONError) -> [JSONValue] {
        position += 1
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try value(depth: depth + 1))
            if take(UInt8(ascii: "]")) { return elements }
            guard take(UInt8(ascii: ",")) else { throw fault("a comma or a closing bracket is missing") }
        }
    }

    private mutating func string() throws(JSONError) -> Range<Int> {
        position += 1
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let range = start..<position
                position += 1
                guard JSONText.count(bytes, range) != nil else {
                    throw fault("a string has an invalid escape or is not UTF-8")
                }
                return range
            case UInt8(ascii: "\\"): position += 2
            case 0..<0x20: throw fault("a string contains a control character")
            default: position += 1
            }
        }
        throw fault("a string is never closed")
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        while position < bytes.count,
            [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[position])
                || (0x30...0x39).contains(bytes[position])
        {
            position += 1
        }
        guard isNumber(start..<position) else { throw fault("a number is not valid JSON") }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if let number = Int64(text), String(number) == text { return .number(number) }
        guard limits.takesFractions else { throw fault("a number must be an integer of at most 64 bits") }
        return .fraction(start..<position)
    }

    /// Whether the bytes are a number in the form of RFC 8259, without leading zeros and with digits on both sides of a point.
    private func isNumber(_ range: Range<Int>) -> Bool {
        var rest = bytes[range]
        func takes(_ accepted: String) -> Bool {
            guard let first = rest.first, accepted.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        func takesDigits() -> Bool {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(digits.count)
            return !digits.isEmpty
        }
        _ = takes("-")
        guard takes("0") || takesDigits() else { return false }
        if takes("."), !takesDigits() { return false }
        if takes("eE") {
            _ = takes("+-")
            guard takesDigits() else { return false }
        }
        return rest.isEmpty
    }

    private mutating func word() throws(JSONError) -> JSONValue {
        for (word, value) in [("true", JSONValue.yes(true)), ("false", .yes(false)), ("null", .null)]
        where bytes[position...].starts(with: word.utf8) {
            position += word.utf8.count
            return value
        }
        throw fault("not valid JSON")
    }
}
