import ArgumentParser
import VaubanAuthenticationClient
import VaubanRefusal
import VaubanSecretBytes

/// The passphrase of a backup: typed, or one line from a descriptor.
struct BackupPassphraseOptions: ParsableArguments {
    @Option(
        name: .customLong("passphrase-fd"),
        help: ArgumentHelp("Read the passphrase of the backup from this file descriptor (one line).", valueName: "n"))
    var descriptor: Int32?

    /// Reads the passphrase of a new backup; at a terminal it is typed twice.
    func new(_ user: CommandUser) throws -> SecretBytes {
        try given() ?? PasscodeInput.askNew("Passphrase of the backup", on: terminal(user))
    }

    func existing(_ user: CommandUser) throws -> SecretBytes {
        try given()
            ?? PasscodeInput.ask(
                "Passphrase of the backup (\(TerminalPrompt.cancelHint)): ", on: terminal(user), bytesMax: ExportFormat.passphraseBytesMax)
    }

    private func given() throws -> SecretBytes? {
        guard let descriptor else { return nil }
        return try SecretReader.line(from: descriptor, max: ExportFormat.passphraseBytesMax)
    }

    private func terminal(_ user: CommandUser) throws(Refusal) -> Terminal {
        guard let terminal = user.terminal else {
            throw Refusal(.interactionNotAllowed, "No terminal to ask for the passphrase; use --passphrase-fd N")
        }
        return terminal
    }
}
