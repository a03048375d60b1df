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

    static func write(_ records: [ItemRecord], _ options: DescriptionOptions, withOwners: Bool) throws {
        if options.json { return print(try ItemDescription.json(records.map { ItemDescription($0) })) }
        // Scripts, which read fields by their position, get the options from --json.
        columns(of: records, withOwners: withOwners, tellsApart: isatty(STDOUT_FILENO) == 1).write()
    }

    private static func isPassword(_ record: ItemRecord) -> Bool { [.genericPassword, .internetPassword].contains(record.kind) }

    /// Returns a row for each item. With `tellsApart`, items with the same name also have the options that select them.
    package static func columns(of records: [ItemRecord], withOwners: Bool, tellsApart: Bool = false) -> TextColumns {
        let names = records.map(\.name)
        let counts = Dictionary(zip(names, repeatElement(1, count: names.count)), uniquingKeysWith: +)
        return TextColumns(
            zip(names, records).map { name, record in
                [
                    name, record.protectionName, record.needsApproval ? "prompts" : nil,
                    withOwners ? "owner: \(SafeText.visible(record.owner))" : nil,
                    tellsApart && counts[name] != 1 && isPassword(record) ? record.options : nil,
                ]
            })
    }
}
