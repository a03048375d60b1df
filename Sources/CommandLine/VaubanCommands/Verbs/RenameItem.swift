import ArgumentParser
import VaubanKeychainModel
import VaubanKeychainWire

/// The new name of an item: the second argument, or `--as` if the item is selected by options.
struct NewName: ParsableArguments {
    @Argument(help: ArgumentHelp("The new name: service/account, or server/account.", valueName: "new"))
    var word: String?

    @Option(
        name: .customLong("as"), help: ArgumentHelp("The new name, if you select the item with --service or --server.", valueName: "new"))
    var option: String?

    var naming: ItemNaming? { get throws { try (word ?? option).map(ItemNaming.init) } }

    func validate() throws {
        if word != nil, option != nil { throw ValidationError("Give the new name as the second argument or with --as, not both") }
        _ = try naming
    }
}

struct RenameItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Rename an item.",
        discussion: """
            Secret, persistent reference, creation date, comment and protection stay. A label that repeats the old name changes with it. \
            Exits 45 and changes nothing if the name is taken. A one-time code and protected fields of the item keep the old name; \
            vauban says how to rename them.

            Example:
              vauban rename github/anna github/anna-work
              vauban rename --server example.com --account anna --as example.org/anna
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var newName: NewName
    @OptionGroup var user: UserOptions

    func validate() throws {
        try selection.requireSomething()
        if try newName.naming == nil { throw ValidationError("No new name given: vauban rename OLD NEW") }
    }

    func run() throws {
        guard let naming = try newName.naming else { return }
        let client = try ServiceClient(user)
        let target = try client.target(selection, for: "rename")
        let changes = naming.changes(to: target.record)
        try client.change(target, ItemChanges(attributes: changes), reason: "rename \(target.record.name)")
        client.reportAttachedItemsLeft(by: target.record, after: changes)
    }
}
