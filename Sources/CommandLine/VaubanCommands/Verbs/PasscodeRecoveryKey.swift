import ArgumentParser
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

struct PasscodeRecoveryKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery-key",
        abstract: "Create a new recovery key and show it once; the previous one then stops working.",
        discussion: """
            With --passcode-fd, prints the key to standard output. The previous key stops working once you confirm that you have the \
            new one. --confirm does that later, and tells you whether the key that you wrote down is correct.

            Example:
              vauban passcode recovery-key
              vauban passcode recovery-key --confirm
              vauban passcode recovery-key --remove
            """)

    @Flag(help: "Remove the recovery key.")
    var remove = false

    @Flag(help: "Check the newest recovery key, which you type; a previous one stops working.")
    var confirm = false

    @Option(
        name: .customLong("recovery-key-fd"),
        help: ArgumentHelp("With --confirm, read the recovery key from this file descriptor (one line).", valueName: "n"))
    var keyDescriptor: Int32?

    @OptionGroup var user: UserOptions

    func validate() throws {
        if remove, confirm { throw ValidationError("Use --remove or --confirm, not both") }
        if keyDescriptor != nil, !confirm { throw ValidationError("--recovery-key-fd requires --confirm") }
    }

    func run() throws {
        let client = try ServiceClient(user)
        let device = try client.authentication.status().device
        try Passcode.requireSet(device)
        if (remove || confirm) && !device.recoveryKeyIsSet { throw Refusal(.recoveryKeyNotSet) }
        if confirm {
            let key = try RecoveryKeyInput.read(keyDescriptor, client, options: "--recovery-key-fd N")
            try client.authentication.confirmRecoveryKey(key)
            return say("This recovery key is right. A previous one no longer works.")
        }
        let passcode = try Passcode.current(of: client)
        if remove {
            try client.authentication.setRecoveryKey(nil, passcode: passcode)
            return say(
                "The recovery key is removed: if you forget the passcode, everything is lost. To create one: vauban passcode recovery-key")
        }
        try replace(passcode: passcode, in: client, hasEarlier: device.recoveryKeyIsSet)
    }

    private func replace(passcode: borrowing SecretBytes, in client: ServiceClient, hasEarlier: Bool) throws {
        let key: RecoveryKey? = RecoveryKey(random: try Entropy.secret(RecoveryKey.keyBytes))
        try client.authentication.setRecoveryKey(key, passcode: passcode)
        guard try NewPasscode.showRecoveryKey(key, to: client, onOutput: client.user.hasPreparedPasscode) else {
            say(
                "You did not confirm that you have the new recovery key\(hasEarlier ? ", so the previous one works too" : ""). "
                    + "If you have it: vauban passcode recovery-key --confirm. Otherwise make another.")
            throw ExitCode(1)
        }
        switch key {
        case .some(let key): try client.authentication.confirmRecoveryKey(key)
        case .none: break
        }
        say("This is the new recovery key. A previous one no longer works.")
    }
}
