import CVaubanLinux

/// The number of terminal columns that a text takes: an ideograph takes two, a combining accent none.
package enum DisplayWidth {
    package static func of(_ text: String) -> Int {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text.utf8.count }
        return text.unicodeScalars.reduce(0) { $0 + max(Int(vauban_columns($1.value)), 0) }
    }

    /// Returns the text, padded with spaces to a width in columns.
    package static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(width - of(text), 0))
    }
}
