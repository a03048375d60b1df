import ArgumentParser
import VaubanKeychainModel

struct ShowItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an item without its secret.",
        discussion: """
            Shows the attributes, the protection, the owner, the dates, and which program last read and changed the item. Never needs \
            your approval.

            Example:
              vauban show github/anna
              vauban show --server example.com --account anna --json
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var description: DescriptionOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        let record = try session.withSuggestions(selection) { try session.one(selection, for: "show") }
        let shown = ItemDescription(record).adding(session.lastUses(of: record))
        if description.json { return print(try ItemDescription.json(shown)) }
        for line in shown.lines { print(line) }
    }
}
