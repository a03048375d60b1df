import ArgumentParser
import VaubanAuthenticationClient
import VaubanRefusal
import VaubanUserModel

struct PasscodeSet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Sets the first passcode, and shows a recovery key once.",
        discussion: """
            \(PasscodeInput.rules)

            The recovery key is for a forgotten passcode: write it on paper and keep that apart. With --passcode-fd none \
            is made, unless --recovery-key asks for one; then it is the one line on standard output.

            Example:
              vauban passcode set
              vauban passcode set --no-recovery-key
            """)

    @OptionGroup var recovery: RecoveryKeyOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        if try session.authentication.status().device.passcodeIsSet { throw Refusal(.passcodeAlreadySet) }
        try NewPasscode.setFirst(session, recovery)
    }
}
