import ArgumentParser
import VaubanKeychainModel
import VaubanKeychainWire

/// The new name of an item: as the second word, or by `--as` where the item is named part by part.
struct NewName: ParsableArguments {
    @Argument(help: ArgumentHelp("The new name: service/account, or server/account.", valueName: "new"))
    var word: String?

    @Option(
        name: .customLong("as"), help: ArgumentHelp("The new name, where the item is named by --service or --server.", valueName: "new"))
    var option: String?

    var naming: ItemNaming? { get throws { try (word ?? option).map(ItemNaming.init) } }

    func validate() throws {
        if word != nil, option != nil { throw ValidationError("The new name is the second word or --as, not both.") }
        _ = try naming
    }
}

struct RenameItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Gives an item another name; its secret and all else stay.",
        discussion: """
            Persistent references, dates, comment and protection stay as they are, and the secret is not read out. A label that only \
            repeats the old name becomes the new one. Where the name is taken it ends with 45 and nothing is changed.

            Example:
              vauban rename github/anna github/anna-work
              vauban rename --server example.com --account anna --as example.org/anna
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var newName: NewName
    @OptionGroup var user: UserOptions

    func validate() throws {
        try selection.requireSomething()
        if try newName.naming == nil { throw ValidationError("What is its new name? vauban rename OLD NEW") }
    }

    func run() throws {
        guard let naming = try newName.naming else { return }
        let session = try Session(user)
        let target = try session.target(selection, for: "rename")
        try session.change(target, ItemChanges(attributes: naming.changes(to: target.record)), reason: "rename \(target.record.name)")
    }
}
