import ArgumentParser
import VaubanKeychainModel

struct ShowItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows all of an item but its secret.",
        discussion: """
            Its attributes, when it can be read, what that asks of you, its owner and its dates. An item that asks for you \
            does not ask for this.

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
