import ArgumentParser
import VaubanAuthenticationClient
import VaubanRefusal

struct PasscodeRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove the passcode and destroy what only it protects.",
        discussion: """
            \(costs)

            On a terminal, asks for confirmation first.

            Example:
              vauban passcode remove
            """)

    private static let costs = """
        Items that exist only while a passcode is set are destroyed. Items that need your approval stay locked until a \
        passcode is set again. All other items are then protected by nothing: anyone who has the disk, or a copy of it, can \
        read them.
        """

    @Flag(help: "Skip confirmation.")
    var yes = false

    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        try Passcode.requireSet(try client.authentication.status().device)
        if !yes && !client.user.hasPreparedPasscode {
            let terminal = try Passcode.terminal(of: client)
            terminal.write("\(Self.costs)\n")
            guard terminal.readWord("Remove the passcode? Type yes to confirm: ") == "yes" else { throw Refusal(.cancelled) }
        }
        let passcode = try Passcode.current(of: client)
        try client.authentication.removePasscode(passcode)
        say("The passcode is removed. \(StatusText.noPasscodeSentence) Run: vauban passcode set")
        Rewrapping(client).runSilently()
    }
}
