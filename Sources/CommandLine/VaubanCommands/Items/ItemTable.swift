import ArgumentParser
import Glibc
package import VaubanKeychainModel

/// The options of verbs that describe items.
struct DescriptionOptions: ParsableArguments {
    @Flag(help: "Print one JSON document.")
    var json = false
}

/// The output for many items: one line each, or one JSON document.
package enum ItemTable {
    /// Returns the records sorted by name, then by the options that select them. Computes both once for each item, since they are slow.
    package static func sorted(_ records: [ItemRecord]) -> [ItemRecord] {
        records.map { (key: ($0.name, $0.options), record: $0) }.sorted { $0.key < $1.key }.map(\.record)
    }

    /// The widest column of names that is padded.
    private static let widthMax = 60

    static func write(_ records: [ItemRecord], _ options: DescriptionOptions, withOwners: Bool) throws {
        if options.json { return print(try ItemDescription.json(records.map { ItemDescription($0) })) }
        for line in lines(of: records, inColumns: isatty(STDOUT_FILENO) == 1, withOwners: withOwners) { print(line) }
    }

    /// Returns a line for each item, with padded columns or with fields separated by tabs.
    package static func lines(of records: [ItemRecord], inColumns: Bool, withOwners: Bool) -> [String] {
        let names = records.map(\.name)
        let width = inColumns ? min(names.map(DisplayWidth.of).max() ?? 0, widthMax) : 0
        return zip(names, records).map { name, record in
            let words =
                [name, record.protectionName] + (record.asks ? ["asks"] : [])
                + (withOwners ? ["owner: \(SafeText.visible(record.owner))"] : [])
            guard inColumns else { return words.joined(separator: "\t") }
            return "\(DisplayWidth.padded(name, to: width))  \(words.dropFirst().joined(separator: "  "))"
        }
    }
}
