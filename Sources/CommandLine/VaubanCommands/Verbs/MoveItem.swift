import ArgumentParser
import VaubanKeychainModel
import VaubanRefusal

struct MoveItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Gives an item to another owner (access group).",
        discussion: """
            The owner is cli, which is your own hand, or a program; in user mode any name, which tells items apart and keeps nobody \
            out. The secret goes from one to the other within the service and is not shown. Where programs are told apart you are asked \
            each time. Programs that you let read the item still may; what its former owner let others read ends.

            Example:
              vauban move mail/anna --to program:/usr/bin/mail
              vauban move mail/anna --owner program:/usr/bin/mail --to cli
            """)

    @OptionGroup var selection: ItemSelection

    @Option(help: ArgumentHelp("The new owner: cli, or a program such as program:/usr/bin/mail.", valueName: "owner"))
    var to: String

    @OptionGroup var user: UserOptions

    func validate() throws {
        try selection.requireSomething()
        if to.isEmpty { throw ValidationError("Whose is it to be? An owner is cli, or a program such as program:/usr/bin/mail.") }
    }

    func run() throws {
        let session = try Session(user)
        let target = try session.target(selection, for: "move")
        guard target.record.owner != to else {
            throw Refusal(.badParameter, "\(target.record.name) belongs to \(SafeText.visible(to)) already")
        }
        try session.transfer(
            target, ItemAttributes([.accessGroup: .text(to)]), keepsOriginal: false,
            reason: "give \(target.record.name) to \(SafeText.line(to, max: 100))")
    }
}
