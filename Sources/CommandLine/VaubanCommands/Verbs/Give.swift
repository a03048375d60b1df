import ArgumentParser
import VaubanKeychainClient
import VaubanKeychainWire

struct Give: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Gives the items that belong to nobody to an owner.",
        discussion: """
            Items that were kept before programs were told apart, or by programs without an identity, belong to nobody \
            (unsigned). The owner is cli, which is your own hand, or a program. It can be stopped and run again.

            Example:
              vauban give cli
              vauban give program:/usr/bin/mail
            """)

    @Argument(help: ArgumentHelp("cli, or a program such as program:/usr/bin/mail.", valueName: "owner"))
    var owner: String

    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        var done: Int = 0
        while true {
            let batch = try session.opening { try session.asking { try session.keychain.move(to: owner, waiting: $0) } }
            done += batch.done
            guard batch.left > 0, batch.done > 0 else {
                say("\(count(done, "item")) given to \(SafeText.visible(owner)).")
                let kept = batch.kept + batch.left
                if kept > 0 { say("\(kept) stayed: closed now, not given by you, or the owner has one of that name.") }
                return
            }
        }
    }
}
