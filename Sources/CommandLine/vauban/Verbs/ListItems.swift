import ArgumentParser
import Glibc
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
            """)

    @OptionGroup var selection: ItemSelection

    @Flag(help: "What every program keeps, without its secrets.")
    var allOwners = false

    @OptionGroup var person: PersonOptions

    func run() throws {
        let session = try Session(person)
        let records = try session.matches(selection, ofAllOwners: allOwners).sorted { ($0.name, $0.options) < ($1.name, $1.options) }
        if records.isEmpty {
            guard selection.isEmpty else { throw Refusal(.itemNotFound) }
            if let own = OwnKeychain.behind(session.service), !own.isAdopted { return say("There are no items here: \(own.mention)") }
            return say("There are no items yet. Add one: vauban set github/anna")
        }
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let width = min(records.map(\.name.count).max() ?? 0, 60)
        for record in records {
            let words = [record.name, record.protectionName] + (record.asks ? ["asks"] : []) + (allOwners ? ["owner: \(SafeText.visible(record.owner))"] : [])
            guard isTerminal else { print(words.joined(separator: "\t")); continue }
            let padding = String(repeating: " ", count: max(width - record.name.count, 0))
            print("\(record.name)\(padding)  \(words.dropFirst().joined(separator: "  "))")
        }
    }
}
