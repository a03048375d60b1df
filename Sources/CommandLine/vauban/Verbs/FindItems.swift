import ArgumentParser
import VaubanAccessPolicy

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
            """)

    @Argument(help: ArgumentHelp("What to look for.", valueName: "words"))
    var words: [String] = []

    @Option(help: ArgumentHelp("Only passwords of the website at this address.", valueName: "url"))
    var url: String?

    @OptionGroup var description: DescriptionOptions
    @OptionGroup var person: PersonOptions

    func validate() throws {
        if words.isEmpty, url == nil { throw ValidationError("What is to be found? Name words, or --url.") }
        if let url { _ = try ItemSelection.parse(["--url", url]) }
        if words.contains("") { throw ValidationError("An empty word is in everything; vauban list shows everything.") }
    }

    func run() throws {
        let records = ItemTable.sorted(try Session(person).matches(words: words, url: url))
        if records.isEmpty { throw Refusal(.itemNotFound) }
        try ItemTable.write(records, description, withOwners: false)
    }
}
