// A file of comma-separated values (RFC 4180) as a sequence of records, each with the line on which it begins.
//
// This uses no library: fields are ranges of memory that is scrubbed, and a secret is copied into its item without ever becoming a
// `String`. In bytes a quote is always a quote, even before a combining accent, and an unclosed quote damages only its own line and not the
// rest of the file.

package import VaubanSecretBytes

/// The range of a record in the file.
package struct CSVRecord: Sendable {
    package let line: Int
    package let range: Range<Int>
    /// The reason why it is not a valid record, if that is known already.
    package let fault: String?
}

/// One field; without its quotes, if it has any.
package struct CSVField {
    fileprivate let range: Range<Int>
    /// Whether the field contains doubled quotes.
    fileprivate let isEscaped: Bool

    package var isEmpty: Bool { range.isEmpty }

    /// Returns the field's bytes as a secret.
    package func secret(in bytes: UnsafeRawBufferPointer) -> SecretBytes {
        let content = UnsafeRawBufferPointer(rebasing: bytes[range])
        guard isEscaped else { return SecretBytes(copying: content) }
        return SecretBytes(count: content.count - content.count { $0 == 0x22 } / 2) { target in
            var position = 0
            var isSecond = false
            for byte in content {
                if byte == 0x22, !isSecond { isSecond = true; continue }
                isSecond = false
                target[position] = byte
                position += 1
            }
        }
    }

    /// Returns the field as text, or nil if it is not UTF-8.
    package func text(in bytes: UnsafeRawBufferPointer) -> String? {
        let content = secret(in: bytes)
        return content.withUnsafeBytes { String(validating: $0, as: UTF8.self) }
    }
}

package enum CSVRecords {
    /// Returns the records of the file without blank lines. An unclosed quote damages only its line, not the rest of the file.
    package static func find(in bytes: UnsafeRawBufferPointer) -> [CSVRecord] {
        var records: [CSVRecord] = []
        var position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var line = 1
        var openUntil = 0
        while position < bytes.count {
            var scanner = RecordScanner(bytes, from: position, quotes: true, openUntil: openUntil)
            scanner.run()
            var fault = scanner.fault
            if scanner.isUnclosed {
                openUntil = scanner.next
                scanner = RecordScanner(bytes, from: position, quotes: false)
                scanner.run()
                fault = "a quote is never closed"
            }
            if !scanner.range.isEmpty { records.append(CSVRecord(line: line, range: scanner.range, fault: fault)) }
            line += scanner.lines
            position = scanner.next
        }
        return records
    }

    /// Returns the fields of one record, or nil if its quotes are unbalanced.
    package static func fields(of record: CSVRecord, in bytes: UnsafeRawBufferPointer) -> [CSVField]? {
        var fields: [CSVField] = []
        var position = record.range.lowerBound
        let end = record.range.upperBound
        while true {
            let isQuoted = position < end && bytes[position] == 0x22
            let start = isQuoted ? position + 1 : position
            var isEscaped = false
            position = start
            while position < end {
                if isQuoted, bytes[position] == 0x22 {
                    guard position + 1 < end, bytes[position + 1] == 0x22 else { break }
                    isEscaped = true
                    position += 1
                } else if !isQuoted {
                    if bytes[position] == 0x2C { break }
                    if bytes[position] == 0x22 { return nil }
                }
                position += 1
            }
            fields.append(CSVField(range: start..<position, isEscaped: isEscaped))
            if isQuoted {
                guard position < end else { return nil }
                position += 1
            }
            guard position < end else { return fields }
            guard bytes[position] == 0x2C else { return nil }
            position += 1
        }
    }
}

/// A scanner for the end of one record: a line end outside of quotes.
private struct RecordScanner {
    private let bytes: UnsafeRawBufferPointer
    private let start: Int
    private let quotes: Bool
    /// The end of the range in which an earlier record was within quotes. A record that is within quotes at an earlier line end remains so
    /// up to here, so the scan can skip this range. Otherwise a file of such lines would take quadratic time.
    private let openUntil: Int
    private var hasSkipped = false
    /// The longest record, in bytes; a longer one must have absorbed other records.
    private static let bytesMax = 4 << 20

    private(set) var range: Range<Int>
    private(set) var next: Int
    private(set) var lines = 0
    private(set) var fault: String?
    private(set) var isUnclosed = false

    init(_ bytes: UnsafeRawBufferPointer, from start: Int, quotes: Bool, openUntil: Int = 0) {
        self.openUntil = openUntil
        self.bytes = bytes
        self.start = start
        self.quotes = quotes
        range = start..<start
        next = start
    }

    private enum State { case fieldStart, plain, quoted, quoteInQuoted }

    mutating func run() {
        var state = State.fieldStart
        var position = start
        while position < bytes.count {
            let byte = bytes[position]
            let isLineEnd = byte == 0x0A || byte == 0x0D
            if isLineEnd {
                lines += 1
                let width = byte == 0x0D && position + 1 < bytes.count && bytes[position + 1] == 0x0A ? 2 : 1
                if state != .quoted {
                    if hasSkipped { lines = Self.lineEnds(in: bytes, start..<position + width) }
                    return end(at: position, next: position + width)
                }
                position += width
                if position < openUntil {
                    position = openUntil
                    hasSkipped = true
                    if position - start > Self.bytesMax { break }
                }
                continue
            }
            switch (state, byte) {
            case (.fieldStart, 0x22) where quotes: state = .quoted
            case (.quoted, 0x22): state = .quoteInQuoted
            case (.quoteInQuoted, 0x22): state = .quoted
            case (.quoted, _): break
            case (_, 0x2C): state = .fieldStart
            case (.quoteInQuoted, _):
                fault = fault ?? "text between a closing quote and the next comma"
                state = .plain
            default: state = .plain
            }
            position += 1
            if position - start > Self.bytesMax { break }
        }
        isUnclosed = state == .quoted
        if hasSkipped, !isUnclosed { lines = Self.lineEnds(in: bytes, start..<position) }
        end(at: position, next: position)
    }

    private static func lineEnds(in bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int {
        range.count { bytes[$0] == 0x0A ? $0 == range.lowerBound || bytes[$0 - 1] != 0x0D : bytes[$0] == 0x0D }
    }

    private mutating func end(at position: Int, next: Int) {
        range = start..<position
        self.next = next
    }
}
