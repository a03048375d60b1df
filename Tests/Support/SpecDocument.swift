internal import Foundation

/// A document of Specs/ as tests read it: its tables, and its worked examples in hexadecimal. Tests compare them with the code, so that
/// neither can change alone.
public struct SpecDocument {
    private let name: String
    private let lines: [String]

    public init(_ name: String, file: String = #filePath) throws {
        let root = URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("Specs/\(name).md"), encoding: .utf8)
        self.name = name
        lines = text.components(separatedBy: "\n")
    }

    /// Returns the rows of the table after the line `<!-- table: NAME -->`, as dictionaries by column.
    public func table(_ table: String) throws -> [[String: String]] {
        let rows = try after("<!-- table: \(table) -->").drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }.map(Self.cells)
        guard let columns = rows.first else { throw FormatError(description: "the table \(table) of \(name) is empty") }
        return try rows.dropFirst(2).map { row in
            guard row.count == columns.count else { throw FormatError(description: "a row of \(table) has \(row.count) cells: \(row)") }
            return Dictionary(uniqueKeysWithValues: zip(columns, row))
        }
    }

    /// Returns the bytes of the block after the line `<!-- example: NAME -->`; text after `--` on a line is a comment.
    public func example(_ example: String) throws -> [UInt8] {
        let block = try after("<!-- example: \(example) -->").drop { !$0.hasPrefix("```") }.dropFirst().prefix { !$0.hasPrefix("```") }
        let digits = block.map { line in line.components(separatedBy: "--")[0].filter { !$0.isWhitespace } }.joined()
        let pairs = stride(from: 0, to: digits.count, by: 2).map { digits.dropFirst($0).prefix(2) }
        return try pairs.map { pair in
            guard pair.count == 2, let byte = UInt8(pair, radix: 16) else {
                throw FormatError(description: "the example \(example) is not hexadecimal")
            }
            return byte
        }
    }

    private func after(_ marker: String) throws -> ArraySlice<String> {
        guard let index = lines.firstIndex(of: marker) else { throw FormatError(description: "\(name) has no line \(marker)") }
        return lines[(index + 1)...]
    }

    private static func cells(_ line: String) -> [String] {
        line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
            .map { $0.trimmingCharacters(in: .whitespaces).replacingOccurrences(of: "`", with: "") }
    }

    /// A document without the part that a test looks for.
    public struct FormatError: Error, CustomStringConvertible {
        public let description: String
    }
}
