import ArgumentParser
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal

struct ListItems: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the items, never a secret.",
        discussion: """
            One line an item: its name, when it can be read, and "asks" where reading it asks for you. On a terminal \
            in columns, elsewhere separated by tabs. With --all-owners also what other programs keep, after you have said yes \
            to that, each with its owner.

            Example:
              vauban list
              vauban list --server example.com
              vauban list --all-owners
              vauban list --deleted
              vauban list --json
            """)

    @OptionGroup var selection: ItemSelection

    @Flag(help: "What every program keeps, without its secrets.")
    var allOwners = false

    @Flag(help: "What was deleted in the last thirty days and can be restored.")
    var deleted = false

    @OptionGroup var description: DescriptionOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        if deleted { return try listDeleted(session) }
        let records = ItemTable.sorted(try session.matches(selection, ofAllOwners: allOwners))
        if records.isEmpty {
            guard selection.isEmpty else { throw Refusal(.itemNotFound) }
            if description.json { try ItemTable.write([], description, withOwners: allOwners) }
            if let own = OwnKeychain.behind(session.service), !own.isAdopted(by: session) {
                return say("There are no items here: \(own.mention)")
            }
            return say("There are no items yet. Add one: vauban set github/anna")
        }
        try ItemTable.write(records, description, withOwners: allOwners)
    }
    private func listDeleted(_ session: Session) throws {
        let items = try session.deletedItems(selection, ofAllOwners: allOwners)
        if items.isEmpty {
            guard selection.isEmpty else { throw Refusal(.itemNotFound) }
            return say("Nothing was deleted in the last thirty days that can be restored.")
        }
        if description.json { return print(try ItemDescription.json(items.map { ItemDescription($0.record, deleted: $0.deleted) })) }
        for item in items { print(HistoryText.line(item)) }
    }
}
