import ArgumentParser
import VaubanKeychainModel

struct CopyItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Makes a second item of an item, under another name or for another owner.",
        discussion: """
            The copy has every attribute, the protection and the secret of the item, and dates of its own; from then on the two know \
            nothing of each other. The secret is copied within the service and is not shown. An item of another program, and a copy \
            for one, ask you each time. Where the name is taken it ends with 45 and nothing is changed.

            Example:
              vauban copy github/anna github/deploy
              vauban copy mail/anna --to program:/usr/bin/mail
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var newName: NewName

    @Option(help: ArgumentHelp("The owner of the copy: cli, or a program such as program:/usr/bin/mail.", valueName: "owner"))
    var to: String?

    @OptionGroup var user: UserOptions

    func validate() throws {
        try selection.requireSomething()
        if try newName.naming == nil, (to ?? "").isEmpty {
            throw ValidationError("A copy has another name or another owner: vauban copy NAME NEW, or vauban copy NAME --to OWNER")
        }
    }

    func run() throws {
        let session = try Session(user)
        let target = try session.target(selection, for: "copy")
        var attributes = try newName.naming?.changes(to: target.record) ?? ItemAttributes()
        if let to { attributes[.accessGroup] = .text(to) }
        try session.transfer(target, attributes, keepsOriginal: true, reason: "copy \(target.record.name)")
    }
}
