import Glibc

/// Rows of fields as the verbs print them: in columns on a terminal, and separated by tabs elsewhere, as scripts read them.
package struct TextColumns {
    /// The widest column that is padded; a longer field moves the rest of its row only.
    private static let widthMax = 60

    private let rows: [[String?]]

    /// Creates rows. A field that is nil leaves its column empty on a terminal, and is left out elsewhere.
    package init(_ rows: [[String?]]) { self.rows = rows }

    /// Prints the rows to standard output.
    func write() { for line in lines(inColumns: isatty(STDOUT_FILENO) == 1) { print(line) } }

    package func lines(inColumns: Bool) -> [String] {
        guard inColumns else { return rows.map { $0.compactMap(\.self).joined(separator: "\t") } }
        var widths = [Int](repeating: 0, count: rows.map(\.count).max() ?? 0)
        for row in rows {
            for (column, field) in row.enumerated() {
                widths[column] = max(widths[column], min(field.map(DisplayWidth.of) ?? 0, Self.widthMax))
            }
        }
        return rows.map { row in
            guard let last = row.lastIndex(where: { $0 != nil }) else { return "" }
            return row[...last].enumerated().compactMap { column, field -> String? in
                // A column in which every field is left out takes no place.
                if widths[column] == 0, field == nil { return nil }
                return column == last ? field : DisplayWidth.padded(field ?? "", to: widths[column])
            }.joined(separator: "  ")
        }
    }

    /// Returns a text padded to a width in columns, with a space after it in any case.
    package static func label(_ text: String, _ width: Int) -> String {
        DisplayWidth.padded(text, to: max(width, DisplayWidth.of(text) + 1))
    }
}
