import ArgumentParser
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanPasscode
import VaubanRefusal
import VaubanUserModel

struct PasscodeRecoveryKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery-key",
        abstract: "Create a new recovery key and show it once; the previous one stops working.",
        discussion: """
            With --passcode-fd, prints the key to standard output.

            Example:
              vauban passcode recovery-key
              vauban passcode recovery-key --remove
            """)

    @Flag(help: "Remove the recovery key.")
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
            return say(
                "The recovery key is removed: if you forget the passcode, everything is lost. To create one: vauban passcode recovery-key")
        }
        let key: RecoveryKey? = RecoveryKey(random: try Entropy.secret(RecoveryKey.keyBytes))
        try session.authentication.setRecoveryKey(key, passcode: passcode)
        try NewPasscode.hand(key, to: session, onOutput: session.user.hasPreparedPasscode)
        say("This is the new recovery key. A previous one no longer works.")
    }
}
