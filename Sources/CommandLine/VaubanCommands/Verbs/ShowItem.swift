import ArgumentParser
import VaubanKeychainModel

struct ShowItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an item without its secret.",
        discussion: """
            Shows the attributes, the protection, the owner and the dates. Never needs your approval.

            Example:
              vauban show github/anna
              vauban show --server example.com --account anna --json
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var description: DescriptionOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        let shown = ItemDescription(try session.suggesting(selection) { try session.one(selection, for: "show") })
        if description.json { return print(try ItemDescription.json(shown)) }
        for line in shown.lines { print(line) }
    }
}
