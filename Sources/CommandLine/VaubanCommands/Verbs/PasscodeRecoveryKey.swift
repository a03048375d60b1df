import ArgumentParser
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanPasscode
import VaubanRefusal
import VaubanUserModel

struct PasscodeRecoveryKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery-key",
        abstract: "Makes a new recovery key and shows it once; the one before is worth nothing then.",
        discussion: """
            With --passcode-fd the key is the one line on standard output.

            Example:
              vauban passcode recovery-key
              vauban passcode recovery-key --remove
            """)

    @Flag(help: "Have no recovery key any more.")
    var remove = false

    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        let device = try session.authentication.status().device
        try Passcode.requireSet(device)
        if remove && !device.recoveryKeyIsSet { throw Refusal(.recoveryKeyNotSet) }
        let passcode = try Passcode.current(of: session)
        if remove {
            try session.authentication.setRecoveryKey(nil, passcode: passcode)
            return say("There is no recovery key any more: a forgotten passcode loses everything. Make one: vauban passcode recovery-key")
        }
        let key: RecoveryKey? = RecoveryKey(random: try Entropy.secret(RecoveryKey.keyBytes))
        try session.authentication.setRecoveryKey(key, passcode: passcode)
        try NewPasscode.hand(key, to: session, onOutput: session.user.hasPreparedPasscode)
        say("The recovery key is new; the one before it, if there was one, is worth nothing now.")
    }
}
