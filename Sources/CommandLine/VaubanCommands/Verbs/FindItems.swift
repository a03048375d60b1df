import ArgumentParser
import VaubanKeychainModel
import VaubanRefusal

struct FindItems: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Lists the items that have these words in them, never a secret.",
        discussion: """
            Each word must be somewhere in the service, server, account, label or comment, as a part of it; capitals do not \
            matter. The lines are those of list.

            Example:
              vauban find anna
              vauban find example mail --json
              vauban find --url https://example.com/
              vauban find --tag work
            """)

    @Argument(help: ArgumentHelp("What to look for.", valueName: "words"))
    var words: [String] = []

    @Option(help: ArgumentHelp("Only passwords of the website at this address.", valueName: "url"))
    var url: String?

    @Option(name: .customLong("tag"), help: "Only items with this tag; may be repeated.")
    var tags: [String] = []

    @OptionGroup var description: DescriptionOptions
    @OptionGroup var user: UserOptions

    func validate() throws {
        if words.isEmpty, url == nil, tags.isEmpty { throw ValidationError("What is to be found? Name words, or --url, or --tag.") }
        if let url { _ = try ItemSelection.parse(["--url", url]) }
        if words.contains("") { throw ValidationError("An empty word is in everything; vauban list shows everything.") }
    }

    func run() throws {
        let found = try Session(user).matches(words: words, url: url)
        let records = ItemTable.sorted(found.filter { record in Set(tags).isSubset(of: TaggedComment(record.text(.comment)).tags) })
        if records.isEmpty { throw Refusal(.itemNotFound) }
        try ItemTable.write(records, description, withOwners: false)
    }
}
