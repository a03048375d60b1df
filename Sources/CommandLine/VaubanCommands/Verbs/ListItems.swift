import ArgumentParser
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal

struct ListItems: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List items.",
        discussion: """
            Prints one line per item, never a secret: its name, when it can be read, and the word prompts if reading it needs \
            your approval. Uses columns on a terminal and tabs elsewhere. --all-owners also lists the items of other programs, after \
            you approve.

            Example:
              vauban list
              vauban list --server example.com
              vauban list --tag work
              vauban list --all-owners
              vauban list --deleted
              vauban list --json
            """)

    @OptionGroup var selection: ItemSelection

    @Option(name: .customLong("tag"), help: "List only items with this tag (repeatable).")
    var tags: [String] = []

    @Flag(help: "List the items of all owners.")
    var allOwners = false

    @Flag(help: "List deleted items that can be restored.")
    var deleted = false

    @OptionGroup var description: DescriptionOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        if deleted { return try listDeleted(client) }
        let records = ItemTable.sorted(try client.matches(selection, ofAllOwners: allOwners).filter(isTagged))
        if records.isEmpty {
            guard isWhole else { throw nothing("item", list: "vauban list") }
            if description.json { try ItemTable.write([], description, withOwners: allOwners) }
            if let own = OwnKeychain.beside(client.service), !own.isAdopted(by: client) {
                return say("No items here: \(own.mention)")
            }
            return say("No items yet. To add one: vauban set github/anna")
        }
        try ItemTable.write(records, description, withOwners: allOwners)
    }

    /// The refusal for a selection that matches nothing.
    private func nothing(_ what: String, list: String) -> Refusal {
        let name = selection.shown
        let tagged = tags.map { "--tag \(SafeText.word($0))" }.joined(separator: " ")
        let words = [name.isEmpty ? "matches" : name, tagged].filter { !$0.isEmpty }.joined(separator: " ")
        return Refusal(.itemNotFound, "No \(what) \(words). To list all: \(list)")
    }

    /// Whether the list contains every item: neither a selection nor a tag filters it.
    private var isWhole: Bool { selection.isEmpty && tags.isEmpty }

    private func isTagged(_ record: ItemRecord) -> Bool { TaggedComment.has(tags, in: record.text(.comment)) }

    private func listDeleted(_ client: ServiceClient) throws {
        let items = try client.deletedItems(selection, ofAllOwners: allOwners).filter { isTagged($0.record) }
        if items.isEmpty {
            guard isWhole else { throw nothing("deleted item", list: "vauban list --deleted") }
            if description.json { print("[]") }
            return say("No deleted items to restore.")
        }
        if description.json { return print(try ItemDescription.json(items.map { ItemDescription($0.record, deleted: $0.deleted) })) }
        TextColumns(items.map { HistoryText.fields($0) }).write()
    }
}
