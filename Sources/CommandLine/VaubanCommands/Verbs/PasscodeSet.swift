import ArgumentParser
import VaubanAuthenticationClient
import VaubanPasscodeEstimate
import VaubanRefusal
import VaubanUserModel

struct PasscodeSet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set the first passcode and show a recovery key once.",
        discussion: """
            \(PasscodeEstimate.rules)

            The recovery key is for a forgotten passcode: write it on paper and keep that apart from this machine. With \
            --passcode-fd, no recovery key is created unless you give --recovery-key; it is then printed to standard output.

            Example:
              vauban passcode set
              vauban passcode set --no-recovery-key
            """)

    @OptionGroup var recovery: RecoveryKeyOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        if try client.authentication.status().device.passcodeIsSet { throw Refusal(.passcodeAlreadySet) }
        try NewPasscode.setFirst(client, recovery)
    }
}
