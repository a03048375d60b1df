import ArgumentParser
import VaubanKeychainModel

struct CopyItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Duplicate an item under another name or for another owner.",
        discussion: """
            The copy has all attributes, the protection and the secret of the item, and its own dates. The secret is copied within \
            the service and not shown. Copying an item of another program, or for one, needs your approval. Exits 45 and changes \
            nothing if the name is taken.

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
            throw ValidationError(
                """
                A copy needs another name or another owner: vauban copy NAME NEW, or vauban copy NAME --to OWNER. To copy the secret to \
                the clipboard: vauban get \(selection.quoted) --copy
                """)
        }
    }

    func run() throws {
        let client = try ServiceClient(user)
        let target = try client.target(selection, for: "copy")
        var attributes = try newName.naming?.changes(to: target.record) ?? ItemAttributes()
        if let to {
            try client.requireOwner(to)
            attributes[.accessGroup] = .text(to)
        }
        try client.transfer(target, attributes, keepsOriginal: true, reason: "copy \(target.record.name)")
    }
}
