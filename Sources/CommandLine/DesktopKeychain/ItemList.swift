/// All items in the order of their titles, searched without the keychain.
package struct ItemList: Hashable, Sendable {
    package let rows: [ItemRow]
    private let codes: [ItemRow.Login: Int]

    package static let empty = ItemList([])

    package init(_ rows: [ItemRow]) {
        let sorted = rows.map { (key: ($0.title.lowercased(), $0.subtitle), row: $0) }.sorted { $0.key < $1.key }.map(\.row)
        self.rows = sorted
        let pairs = sorted.indices.filter { sorted[$0].section == .codes }.map { (sorted[$0].login, $0) }
        codes = Dictionary(pairs) { first, _ in first }
    }

    package func count(in section: ItemSection) -> Int {
        section == .all ? rows.count : rows.count { $0.section == section }
    }

    /// Returns the positions in `rows` of the items of a section that contain every word of a text, in any case.
    package func positions(in section: ItemSection, matching text: String) -> [Int] {
        let words = text.lowercased().split(whereSeparator: \.isWhitespace).map { Array($0.utf8) }
        return rows.indices.filter { position in
            let row = rows[position]
            guard section == .all || row.section == section else { return false }
            return words.allSatisfy { row.searchText.contains(word: $0) }
        }
    }

    /// Returns the item with the one-time codes of a password.
    package func code(of row: ItemRow) -> ItemRow? {
        guard row.section == .passwords else { return nil }
        return codes[row.login].map { rows[$0] }
    }
}

extension [UInt8] {
    /// Returns whether the bytes occur. The search runs at every keystroke over every item, so it compares bytes.
    fileprivate func contains(word: [UInt8]) -> Bool {
        guard let first = word.first else { return true }
        return withUnsafeBytes { text in
            var rest = text[...]
            while rest.count >= word.count, let start = rest.firstIndex(of: first), text.count - start >= word.count {
                if text[start..<start + word.count].elementsEqual(word) { return true }
                rest = text[(start + 1)...]
            }
            return false
        }
    }
}
