package import VaubanDER

/// The value of an attribute, with the type it was stored with. Two texts are equal if their bytes are, as in the database: `String` would
/// take two spellings of one letter for the same access group.
package enum AttributeValue: Hashable, Sendable {
    case text(String)
    case data([UInt8])
    case number(Int64)
    /// Microseconds since the reference date, 2001-01-01 00:00 UTC.
    case date(Int64)

    /// Converts a value to the form of its attribute; nil means errSecParam.
    package func converted(to form: AttributeForm) -> AttributeValue? {
        switch (form, self) {
        case (.blob, .text), (.blob, .data), (.blob, .number), (.text, .text), (.number, .number), (.date, .date): self
        case (.data, .data): self
        case (.data, .text(let text)): .data(Array(text.utf8))
        case (.data, .number(let number)): Int32(exactly: number).map { .data(withUnsafeBytes(of: $0.littleEndian) { Array($0) }) }
        case (.text, .data(let bytes)): String(validating: bytes, as: UTF8.self).map(AttributeValue.text)
        case (.number, .text(let text)):
            if let number = Int64(text), String(number) == text { .number(number) } else { self }
        default: nil
        }
    }

    /// An upper bound of the bytes of the content, without identifiers and lengths.
    package var contentBytes: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .data(let bytes): bytes.count
        case .number, .date: 8
        }
    }

    /// The bytes that determine equality: text and data with the same bytes are equal; a number has a separate tag and its eight bytes.
    /// Used in blind indexes only.
    package var equalityBytes: [UInt8] {
        switch self {
        case .text(let text): [0x01] + Array(text.utf8)
        case .data(let bytes): [0x01] + bytes
        case .number(let number): [0x02] + withUnsafeBytes(of: number.bigEndian) { Array($0) }
        case .date(let date): [0x03] + withUnsafeBytes(of: date.bigEndian) { Array($0) }
        }
    }
}

extension AttributeValue {
    package static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.data(let left), .data(let right)): left == right
        case (.number(let left), .number(let right)), (.date(let left), .date(let right)): left == right
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .text(var text): text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .data(let bytes): hasher.combine(bytes)
        case .number(let number), .date(let number): hasher.combine(number)
        }
    }

    /// Returns whether two values have the same `equalityBytes`.
    package func hasEqualBytes(as other: AttributeValue) -> Bool {
        switch (self, other) {
        case (.text(let text), .data(let bytes)), (.data(let bytes), .text(let text)): text.utf8.elementsEqual(bytes)
        default: self == other
        }
    }
}

/// `AttributeValue ::= CHOICE { text [0] UTF8String, data [1] OCTET STRING, number [2] INTEGER, date [3] INTEGER }`
extension AttributeValue {
    package static let bytesMax = 65_536

    package init(choiceFrom fields: inout DERFields) throws {
        switch try fields.choice("value") {
        case 0: self = .text(try fields.optionalText(0, "value", max: Self.bytesMax) ?? "")
        case 1: self = .data(try fields.optionalOctets(1, "value", in: 0...Self.bytesMax) ?? [])
        case 2: self = .number(try fields.optionalInteger(2, "value", in: Int64.min...Int64.max) ?? 0)
        case 3: self = .date(try fields.optionalInteger(3, "value", in: Int64.min...Int64.max) ?? 0)
        default: throw DERError("value has an unknown type")
        }
    }

    package func write(into der: inout DERWriter) throws {
        switch self {
        case .text(let text): try der.optionalText(0, text)
        case .data(let bytes): try der.optionalOctets(1, bytes)
        case .number(let number): try der.optionalInteger(2, number)
        case .date(let date): try der.optionalInteger(3, date)
        }
    }
}
