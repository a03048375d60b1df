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
    static func sorted(_ records: [ItemRecord]) -> [ItemRecord] { records.sorted { ($0.name, $0.options) < ($1.name, $1.options) } }

    static func write(_ records: [ItemRecord], _ options: DescriptionOptions, withOwners: Bool) throws {
        if options.json { return print(try ItemDescription.json(records.map { ItemDescription($0) })) }
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let width = min(records.map(\.name.count).max() ?? 0, 60)
        for record in records {
            let words =
                [record.name, record.protectionName] + (record.asks ? ["asks"] : [])
                + (withOwners ? ["owner: \(SafeText.visible(record.owner))"] : [])
            guard isTerminal else { print(words.joined(separator: "\t")); continue }
            let padding = String(repeating: " ", count: max(width - record.name.count, 0))
            print("\(record.name)\(padding)  \(words.dropFirst().joined(separator: "  "))")
        }
    }
}
