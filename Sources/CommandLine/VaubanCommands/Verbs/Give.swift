import ArgumentParser
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal

struct Give: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "give",
        abstract: "Give items without an owner to an owner.",
        discussion: """
            Items that were stored before programs were distinguished, or by programs without an identity, have the owner unsigned. \
            Give them to cli (yourself) or to a program. You can interrupt it and run it again.

            Example:
              vauban give cli
              vauban give program:/usr/bin/mail
            """)

    @Argument(help: ArgumentHelp("The new owner: cli, or a program such as program:/usr/bin/mail.", valueName: "owner"))
    var owner: String

    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        guard client.service.mode == .system else {
            throw Refusal(.unsupported, "In user mode every program of yours is one owner, so there are no items to give")
        }
        var done: Int = 0
        while true {
            let batch = try client.withUnlock { try client.withPrompts { try client.keychain.move(to: owner, waiting: $0) } }
            done += batch.done
            guard batch.left > 0, batch.done > 0 else {
                say("\(count(done, "item")) given to \(SafeText.visible(owner)).")
                let kept = batch.kept + batch.left
                if kept > 0 { say("\(kept) not given: locked, declined, or the owner already has an item of that name.") }
                return
            }
        }
    }
}
