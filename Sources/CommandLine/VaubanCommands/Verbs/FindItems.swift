import ArgumentParser
import VaubanKeychainModel
import VaubanRefusal

struct FindItems: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "List the items that contain these words.",
        discussion: """
            Matches items that contain each word in their service, server, account, label or comment, ignoring case. Prints lines as \
            vauban list does, never a secret. Exits 44 if nothing matches.

            Example:
              vauban find anna
              vauban find example mail --json
              vauban find --url https://example.com/
              vauban find --tag work
            """)

    @Argument(help: ArgumentHelp("The words to find.", valueName: "words"))
    var words: [String] = []

    @Option(help: ArgumentHelp("Match only passwords of the website at this URL.", valueName: "url"))
    var url: String?

    @Option(name: .customLong("tag"), help: "Match only items with this tag (repeatable).")
    var tags: [String] = []

    @OptionGroup var description: DescriptionOptions
    @OptionGroup var user: UserOptions

    func validate() throws {
        if words.isEmpty, url == nil, tags.isEmpty { throw ValidationError("Nothing to find: give words, --url or --tag") }
        if let url {
            do throws(ParsingError) { _ = try WebAddress(url) } catch { throw ValidationError(error.sentence) }
        }
        if words.contains("") { throw ValidationError("An empty word matches every item; use vauban list instead") }
    }

    func run() throws {
        let found = try ServiceClient(user).matches(words: words, url: url)
        let records = ItemTable.sorted(found.filter { TaggedComment.has(tags, in: $0.text(.comment)) })
        if records.isEmpty {
            let wanted = words + (url.map { [$0] } ?? []) + tags.map { "--tag \($0)" }
            let shown = SafeText.line(wanted.joined(separator: " "), max: 150)
            throw Refusal(.itemNotFound, "No item matches \(shown). To list all: vauban list")
        }
        try ItemTable.write(records, description, withOwners: false)
    }
}
