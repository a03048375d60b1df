import ArgumentParser
import VaubanAccessPolicy
import VaubanKeychainModel

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
              vauban list --json
            """)

    @OptionGroup var selection: ItemSelection

    @Flag(help: "What every program keeps, without its secrets.")
    var allOwners = false

    @OptionGroup var description: DescriptionOptions
    @OptionGroup var person: PersonOptions

    func run() throws {
        let session = try Session(person)
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
}
