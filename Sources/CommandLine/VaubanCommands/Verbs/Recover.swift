import ArgumentParser
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

struct Recover: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Set a new passcode with the recovery key.",
        discussion: """
            Earlier recovery keys stop working; a new one is shown once. --recovery-key-fd and --new-passcode-fd read one line each \
            and may name the same descriptor; a new recovery key is then created only with --recovery-key, and printed to standard output.

            Example:
              vauban recover
            """)

    @OptionGroup var recovery: RecoveryKeyOptions
    @OptionGroup var new: NewPasscodeOptions

    @Option(
        name: .customLong("recovery-key-fd"),
        help: ArgumentHelp("Read the recovery key from this file descriptor (one line).", valueName: "n"))
    var keyDescriptor: Int32?

    @Flag(help: "Never prompt; fail instead.")
    var noInput = false

    func run() throws {
        let client = try ServiceClient(CommandUser(mayBePrompted: !noInput))
        let device = try client.authentication.status().device
        try Passcode.requireSet(device)
        guard device.recoveryKeyIsSet else {
            throw Refusal(
                .recoveryKeyNotSet,
                "only the passcode opens this keychain; to start over without its items, run: vauban erase --forgotten")
        }
        let key = try RecoveryKeyInput.read(keyDescriptor, client, options: "--recovery-key-fd N --new-passcode-fd N")
        let given: SecretBytes? = try new.given()
        try NewPasscode.choose(given, client: client, recovery: recovery) { new, newKey throws(Refusal) in
            try client.authentication.recover(with: key, to: new, newRecoveryKey: newKey)
        }
        say("The new passcode is set. Earlier recovery keys no longer work.")
        // A lock while the passcode was derived leaves the keychain locked.
        if let lock = try? client.authentication.status().device.lock, lock != .unlocked {
            say("The keychain was locked meanwhile. Run: vauban unlock")
        }
    }
}
