import ArgumentParser
import VaubanAuthenticationClient
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

struct Recover: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sets a new passcode with the recovery key, when the old one is forgotten.",
        discussion: """
            The recovery key is used up by this, and a new one is shown once. With --recovery-key-fd and \
            --new-passcode-fd each is one line, and both may name the same descriptor; then a new key is made only with \
            --recovery-key, as the one line on standard output.

            Example:
              vauban recover
            """)

    @OptionGroup var recovery: RecoveryKeyOptions
    @OptionGroup var new: NewPasscodeOptions

    @Option(
        name: .customLong("recovery-key-fd"),
        help: ArgumentHelp("Read the recovery key, one line, from this file descriptor; it is tried once.", valueName: "n"))
    var keyDescriptor: Int32?

    @Flag(help: "Ask nothing: refuse where something would be asked for.")
    var noInput = false

    func run() throws {
        let session = try Session(CommandUser(mayBeAsked: !noInput))
        let device = try session.authentication.status().device
        try Passcode.requireSet(device)
        guard device.recoveryKeyIsSet else {
            throw Refusal(
                .recoveryKeyNotSet,
                "only the passcode opens this keychain; to begin anew without what is in it, run: vauban erase --forgotten")
        }
        let key = try recoveryKey(session)
        let given: SecretBytes? = try new.given()
        try NewPasscode.choose(given, session, recovery) { new, newKey throws(Refusal) in
            try session.authentication.recover(with: key, to: new, newRecoveryKey: newKey)
        }
        say("The new passcode is set, and the recovery key that was used is worth nothing now.")
    }

    private func recoveryKey(_ session: Session) throws -> RecoveryKey {
        guard let keyDescriptor else {
            guard let terminal = session.user.terminal else {
                throw Refusal(
                    .interactionNotAllowed, "there is no terminal to ask on; send both along: --recovery-key-fd N --new-passcode-fd N")
            }
            return try RecoveryKeyInput.ask(on: terminal)
        }
        let line = try SecretReader.line(from: keyDescriptor, max: RecoveryKeyInput.bytesMax)
        do throws(RecoveryKey.Fault) {
            return try RecoveryKey(typed: line)
        } catch {
            // Not the enclave's answer: no try was used up.
            throw Refusal(.badParameter, RecoveryKeyInput.words(error))
        }
    }
}
