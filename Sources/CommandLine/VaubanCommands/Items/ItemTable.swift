import ArgumentParser
import Glibc
import VaubanKeychainModel

/// For verbs that describe items.
struct DescriptionOptions: ParsableArguments {
    @Flag(help: "One JSON document, for a program.")
    var json = false
}

/// What is printed of many items: one line each, or one JSON document.
enum ItemTable {
    /// By name, and by what else means them; each of the two is made once for an item, since both take their time.
    static func sorted(_ records: [ItemRecord]) -> [ItemRecord] {
        records.map { (key: ($0.name, $0.options), record: $0) }.sorted { $0.key < $1.key }.map(\.record)
    }

    /// Columns of names beyond this are not filled up.
    private static let widthMax = 60

    static func write(_ records: [ItemRecord], _ options: DescriptionOptions, withOwners: Bool) throws {
        if options.json { return print(try ItemDescription.json(records.map { ItemDescription($0) })) }
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let names = records.map(\.name)
        let width = isTerminal ? min(names.map(DisplayWidth.of).max() ?? 0, widthMax) : 0
        for (name, record) in zip(names, records) {
            let words =
                [name, record.protectionName] + (record.asks ? ["asks"] : [])
                + (withOwners ? ["owner: \(SafeText.visible(record.owner))"] : [])
            guard isTerminal else { print(words.joined(separator: "\t")); continue }
            print("\(DisplayWidth.padded(name, to: width))  \(words.dropFirst().joined(separator: "  "))")
        }
    }
}
