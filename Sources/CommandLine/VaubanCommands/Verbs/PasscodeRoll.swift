import ArgumentParser
import VaubanAuthenticationClient
import VaubanUserModel

struct PasscodeRoll: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roll",
        abstract: "Goes on wrapping items by the newest keys, where change --roll was broken off.",
        discussion: """
            Example:
              vauban passcode roll
            """)

    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        guard try session.authentication.status().device.hasOlderKeys else {
            return say("Every item is wrapped by the newest keys already.")
        }
        try session.opening { try Rewrapping(session).run() }
    }
}
