import Foundation
import VaubanCommands
package import VaubanKeychainModel

/// The names of all items in the order of their titles, searched without the keychain. The texts of all items are in one array, since a
/// keychain may have a hundred thousand of them: some three hundred bytes for each, and never a secret.
package struct ItemList: Hashable, Sendable {
    /// One item: what its row shows, and where its texts begin. The texts follow each other in this order: title, subtitle, search text,
    /// for a one-time code the name and account of its password, and the tags, one per line.
    struct Entry: Hashable, Sendable {
        let reference: Reference
        let start: Int
        let titleBytes: UInt32
        let subtitleBytes: UInt32
        let searchBytes: UInt32
        let nameBytes: UInt32
        let accountBytes: UInt32
        let tagsBytes: UInt32
        let kind: ItemKind
        let section: ItemSection
        let needsApproval: Bool

        var title: Range<Int> { start..<start + Int(titleBytes) }
        var subtitle: Range<Int> { title.upperBound..<title.upperBound + Int(subtitleBytes) }
        var search: Range<Int> { subtitle.upperBound..<subtitle.upperBound + Int(searchBytes) }
        var name: Range<Int> { search.upperBound..<search.upperBound + Int(nameBytes) }
        var account: Range<Int> { name.upperBound..<name.upperBound + Int(accountBytes) }
        var tags: Range<Int> { account.upperBound..<account.upperBound + Int(tagsBytes) }
    }

    /// An item's identity, 16 bytes, stored inline instead of in a separate array.
    struct Reference: Hashable, Sendable {
        private let front: UInt64
        private let back: UInt64

        init(_ bytes: [UInt8]) {
            front = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            back = bytes.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }

        var bytes: [UInt8] {
            [front, back].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * UInt64($0))) } }
        }
    }

    private var entries: [Entry] = []
    private var texts: [UInt8] = []
    private var counts = [Int](repeating: 0, count: ItemSection.allCases.count)
    /// The number of items of each tag.
    private var tagCounts: [String: Int] = [:]

    package static let empty = ItemList()

    package init() {}

    package init(_ items: some Sequence<(record: ItemRecord, reference: [UInt8])>) {
        var gathering = Gathering()
        for item in items { gathering.add(item.record, reference: item.reference) }
        self = gathering.list()
    }

    /// Items in the order in which the keychain sends them.
    struct Gathering {
        private var gathered = ItemList()
        var count: Int { gathered.entries.count }

        mutating func add(_ record: ItemRecord, reference: [UInt8]) {
            let entry = gathered.adding(record, reference)
            gathered.entries.append(entry)
        }

        /// Returns the list of the items added so far.
        func list() -> ItemList {
            var sorted = gathered
            sorted.sort()
            return sorted
        }
    }

    /// Adds the texts of an item.
    private mutating func adding(_ record: ItemRecord, _ reference: [UInt8]) -> Entry {
        let row = ItemRow(record, reference: reference)
        let start = texts.count
        var before = start
        func added() -> UInt32 {
            defer { before = texts.count }
            return UInt32(clamping: texts.count - before)
        }
        texts.append(contentsOf: row.title.utf8)
        let titleBytes = added()
        texts.append(contentsOf: row.subtitle.utf8)
        let subtitleBytes = added()
        texts.append(contentsOf: Self.searchText(of: record, titled: row.title).utf8)
        let searchBytes = added()
        let login = row.section == .codes ? ItemLogin(record) : nil
        texts.append(contentsOf: (login?.name ?? "").utf8)
        let nameBytes = added()
        texts.append(contentsOf: (login?.account ?? "").utf8)
        let accountBytes = added()
        let tags = TaggedComment(record.text(.comment)).tags
        texts.append(contentsOf: tags.joined(separator: "\n").utf8)
        for tag in tags { tagCounts[tag, default: 0] += 1 }
        counts[ItemSection.all.rawValue] += 1
        counts[row.section.rawValue] += 1
        return Entry(
            reference: Reference(reference), start: start, titleBytes: titleBytes, subtitleBytes: subtitleBytes, searchBytes: searchBytes,
            nameBytes: nameBytes, accountBytes: accountBytes, tagsBytes: added(), kind: record.kind, section: row.section,
            needsApproval: row.needsApproval)
    }

    /// Returns the text that a search matches: each part once, folded. The title is first, and the list is sorted by these texts.
    private static func searchText(of record: ItemRecord, titled title: String) -> String {
        let names: [AttributeName] = [.label, .service, .server, .account, .comment, .description, .path]
        var texts = [folded(title)]
        for text in names.map({ folded(record.text($0)) }) where !text.isEmpty && !texts.contains(text) { texts.append(text) }
        return texts.joined(separator: "\n")
    }

    /// Returns a text without what searching and sorting ignore: case, accents, and how a letter is composed.
    private static func folded(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        return text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }

    private mutating func sort() {
        let texts = texts
        texts.withUnsafeBytes { bytes in
            entries.sort { Self.compare(in: bytes, $0.search, with: $1.search) < 0 }
        }
    }

    private static func compare(in bytes: UnsafeRawBufferPointer, _ one: Range<Int>, with other: Range<Int>) -> Int {
        guard let base = bytes.baseAddress else { return 0 }
        let order = memcmp(base + one.lowerBound, base + other.lowerBound, min(one.count, other.count))
        return order == 0 ? one.count - other.count : Int(order)
    }

    // MARK: Rows

    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }

    package subscript(position: Int) -> ItemRow {
        let entry = entries[position]
        return ItemRow(
            kind: entry.kind, reference: entry.reference.bytes, section: entry.section, title: text(entry.title),
            subtitle: text(entry.subtitle), needsApproval: entry.needsApproval)
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: texts[range], as: UTF8.self) }

    package func count(in section: ItemSection) -> Int { counts[section.rawValue] }

    /// A tag, and the number of items that have it.
    package struct Tag: Hashable, Sendable {
        package let name: String
        package let count: Int
        /// The name for display: one line without invisible characters.
        package var title: String { SafeText.line(name, max: ItemRow.charactersMax) }
    }

    /// Returns the tags in alphabetical order; if there are more than `max`, those of the most items.
    package func tags(max: Int) -> [Tag] {
        let all = tagCounts.map { Tag(name: $0.key, count: $0.value) }.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
        return all.prefix(max).sorted { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }
    }

    var references: [Reference] { entries.map(\.reference) }

    /// Returns the position of an item.
    package func position(of row: ItemRow) -> Int? {
        let reference = Reference(row.reference)
        return entries.firstIndex { $0.reference == reference }
    }

    /// Returns the list with the current state of an item; nil stands for a deleted one.
    package func replacing(_ row: ItemRow, with record: ItemRecord?) -> ItemList {
        var list = self
        if let position = position(of: row) {
            list.counts[ItemSection.all.rawValue] -= 1
            list.counts[list.entries[position].section.rawValue] -= 1
            for tag in text(list.entries[position].tags).split(separator: "\n").map(String.init) {
                list.tagCounts[tag] = list.tagCounts[tag].flatMap { $0 > 1 ? $0 - 1 : nil }
            }
            list.entries.remove(at: position)
        }
        guard let record else { return list }
        let entry = list.adding(record, row.reference)
        let place = list.texts.withUnsafeBytes { bytes in
            list.entries.partitionPoint { Self.compare(in: bytes, $0.search, with: entry.search) < 0 }
        }
        list.entries.insert(entry, at: place)
        return list
    }

    // MARK: Searching

    /// A text to search for: its words, folded as the texts of the items are.
    package struct Words: Hashable, Sendable {
        fileprivate let words: [[UInt8]]
        package init(_ text: String) { words = folded(text).split(whereSeparator: \.isWhitespace).map { Array($0.utf8) } }
        package var isEmpty: Bool { words.isEmpty }
    }

    /// A kind or a tag, whose items are shown.
    package enum Choice: Hashable, Sendable {
        case section(ItemSection)
        case tag(String)
    }

    /// Returns the positions of the chosen items that contain every word, among those in a range; all by default.
    package func positions(of choice: Choice, matching words: Words, among range: Range<Int>? = nil) -> [UInt32] {
        var found: [UInt32] = []
        let (section, tag): (ItemSection, [UInt8]?) =
            switch choice {
            case .section(let section): (section, nil)
            case .tag(let name): (.all, Array(name.utf8))
            }
        texts.withUnsafeBytes { bytes in
            for position in range ?? entries.indices {
                let entry = entries[position]
                guard section == .all || entry.section == section else { continue }
                if let tag, !Self.lines(bytes[entry.tags], contain: tag) { continue }
                let text = UnsafeRawBufferPointer(rebasing: bytes[entry.search])
                if words.words.allSatisfy(text.contains) { found.append(UInt32(position)) }
            }
        }
        return found
    }

    package func positions(in section: ItemSection, matching text: String) -> [UInt32] {
        positions(of: .section(section), matching: Words(text))
    }

    private static func lines(_ lines: Slice<UnsafeRawBufferPointer>, contain line: [UInt8]) -> Bool {
        !lines.isEmpty && lines.split(separator: UInt8(ascii: "\n")).contains { $0.elementsEqual(line) }
    }

    /// Returns the item with the one-time codes of a password.
    package func code(of page: ItemPage) -> ItemRow? {
        guard page.row.section == .passwords, count(in: .codes) > 0 else { return nil }
        let login = page.login
        let (name, account) = (Array(login.name.utf8), Array(login.account.utf8))
        let position = entries.firstIndex { entry in
            entry.section == .codes && texts[entry.name].elementsEqual(name) && texts[entry.account].elementsEqual(account)
        }
        return position.map { self[$0] }
    }
}

extension UnsafeRawBufferPointer {
    /// Returns whether the bytes occur. A search runs at every keystroke over every item.
    fileprivate func contains(word: [UInt8]) -> Bool {
        guard let first = word.first else { return true }
        guard var place = baseAddress else { return false }
        var places = count - word.count + 1
        while places > 0, let hit = memchr(place, Int32(first), places).map({ UnsafeRawPointer($0) }) {
            if memcmp(hit, word, word.count) == 0 { return true }
            places -= hit - place + 1
            place = hit + 1
        }
        return false
    }
}

extension [ItemList.Entry] {
    /// Returns the first position at which the condition no longer holds; it must hold for all positions before that.
    fileprivate func partitionPoint(_ isBefore: (ItemList.Entry) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
