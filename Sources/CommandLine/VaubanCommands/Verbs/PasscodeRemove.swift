import ArgumentParser
import VaubanAuthenticationClient
import VaubanRefusal

struct PasscodeRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes the passcode: what only it protects is gone for ever.",
        discussion: """
            \(costs)

            On a terminal it asks once more before it does so.

            Example:
              vauban passcode remove
            """)

    private static let costs = """
        Items that exist only while a passcode is set (class akpu) are gone for ever. Items that ask for you stay closed \
        until a passcode is set again. The disk alone then protects nothing: whoever has it, or a copy of it, can read \
        every other item.
        """

    @Flag(help: "Do not ask once more.")
    var yes = false

    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        try Passcode.requireSet(try session.authentication.status().device)
        if !yes && !session.user.hasPreparedPasscode {
            let terminal = try Passcode.terminal(of: session)
            terminal.write("\(Self.costs)\n")
            guard terminal.readWord("Remove the passcode? Type yes to go on: ") == "yes" else { throw Refusal(.cancelled) }
        }
        let passcode = try Passcode.current(of: session)
        try session.authentication.removePasscode(passcode)
        say("The passcode is removed. \(StatusText.noPasscodeSentence) Run: vauban passcode set")
        Rewrapping(session).runSilently()
    }
}
