// A file of comma-separated values, one record after the other, each with the line that it begins on.
//
// SwiftCSV takes the fields apart. It is given one record at a time, since on a whole file its errors name no line, it
// takes a quote that is never closed for the file's proper end, and one bad line costs all others. And it is given each
// byte as a character of its own (`ByteText`): in text it joins a quote and a following accent into one character and
// misses the quote, drops the spaces before an unquoted field, and takes a vertical tab for a line end.

import SwiftCSV
import VaubanSecretBytes

/// Where a record lies in the file.
struct CSVRecord: Sendable {
    let line: Int
    let range: Range<Int>
    /// Why it cannot be one, where that shows already.
    let fault: String?
}

enum CSVRecords {
    /// The records of the file, blank lines left out. A quote that is never closed costs its line, not the rest of the file.
    static func find(in bytes: UnsafeRawBufferPointer) -> [CSVRecord] {
        var records: [CSVRecord] = []
        var position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var line = 1
        while position < bytes.count {
            var scanner = RecordScanner(bytes, from: position, quotes: true)
            scanner.run()
            var fault = scanner.fault
            if scanner.isUnclosed {
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

    /// The fields of one record, or nil when its quotes are not in order.
    static func fields(of record: UnsafeRawBufferPointer) -> [ByteText]? {
        // With a line end after it, SwiftCSV sees a last field also when it is empty.
        let text = ByteText.encoded(record) + "\n"
        guard let row = try? EnumeratedCSV(string: text, delimiter: .comma, loadColumns: false) else { return nil }
        return row.header.map(ByteText.init)
    }
}

/// Finds the end of one record: a line end that is not within quotes.
private struct RecordScanner {
    private let bytes: UnsafeRawBufferPointer
    private let start: Int
    private let quotes: Bool
    /// A record longer than this has swallowed others.
    private static let bytesMax = 4 << 20

    private(set) var range: Range<Int>
    private(set) var next: Int
    private(set) var lines = 0
    private(set) var fault: String?
    private(set) var isUnclosed = false

    init(_ bytes: UnsafeRawBufferPointer, from start: Int, quotes: Bool) {
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
                if state != .quoted { return end(at: position, next: position + width) }
                position += width
                continue
            }
            switch (state, byte) {
            case (.fieldStart, 0x22) where quotes: state = .quoted
            case (.quoted, 0x22): state = .quoteInQuoted
            case (.quoteInQuoted, 0x22): state = .quoted
            case (.quoted, _): break
            case (_, 0x2C): state = .fieldStart
            case (.quoteInQuoted, _):
                fault = fault ?? "there is something between a closing quote and the next comma"
                state = .plain
            default: state = .plain
            }
            position += 1
            if position - start > Self.bytesMax { break }
        }
        isUnclosed = state == .quoted
        end(at: position, next: position)
    }

    private mutating func end(at position: Int, next: Int) {
        range = start..<position
        self.next = next
    }
}
