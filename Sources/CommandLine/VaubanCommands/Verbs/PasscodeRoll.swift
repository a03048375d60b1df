import ArgumentParser
import VaubanAuthenticationClient
import VaubanUserModel

struct PasscodeRoll: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roll",
        abstract: "Continue wrapping items with the newest keys after an interrupted vauban passcode change --roll.",
        discussion: """
            Example:
              vauban passcode roll
            """)

    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        guard try client.authentication.status().device.hasOlderKeys else {
            return say("All items are already wrapped with the newest keys.")
        }
        try client.withUnlock { try Rewrapping(client).run() }
    }
}
