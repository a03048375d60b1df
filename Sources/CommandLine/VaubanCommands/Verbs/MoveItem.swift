import ArgumentParser
import VaubanKeychainModel
import VaubanRefusal

struct MoveItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Give an item to another owner (access group).",
        discussion: """
            The owner is cli (yourself) or a program; in user mode also an access group with a dot, such as TEAM.shared, which \
            separates items but protects nothing. The secret moves within the service and is not shown. With the installed service \
            you approve each move. Permissions that you granted stay; those that the former owner granted end.

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
        if to.isEmpty { throw ValidationError("No owner given: --to cli, or a program such as --to program:/usr/bin/mail") }
    }

    func run() throws {
        let client = try ServiceClient(user)
        let target = try client.target(selection, for: "move")
        guard target.record.owner != to else {
            throw Refusal(.badParameter, "\(target.record.name) already belongs to \(SafeText.visible(to))")
        }
        try client.requireOwner(to)
        try client.transfer(
            target, ItemAttributes([.accessGroup: .text(to)]), keepsOriginal: false,
            reason: "give \(target.record.name) to \(SafeText.line(to, max: 100))")
    }
}
