import ArgumentParser
import Glibc
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
    @OptionGroup var surplus: ExtraArguments
    @OptionGroup var description: DescriptionOptions
    @OptionGroup var user: UserOptions

    func validate() throws {
        try selection.requireSomething()
        try surplus.requireNone(after: selection, for: "show")
    }

    func run() throws {
        let client = try ServiceClient(user)
        let record = try client.withSuggestions(selection) { try client.one(selection, for: "show") }
        let shown = ItemDescription(record).adding(client.lastUses(of: record))
        if description.json { return print(try ItemDescription.json(shown)) }
        for line in shown.lines { print(line) }
        guard isatty(STDOUT_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return }
        fflush(nil)
        say("To print the secret: vauban get \(SafeText.word(record.name))")
    }
}
