import ArgumentParser
import VaubanAuthenticationClient
import VaubanRefusal
import VaubanSecretBytes

/// The options for the secret that opens an existing backup: its passphrase, typed or one line from a descriptor, or the restore key of its
/// recipient.
struct BackupOpenerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Open the backup with the restore key in this file, or - for standard input; --passphrase-fd is then the key's passphrase.",
            valueName: "file"),
        completion: .file())
    var restoreKey: String?

    @OptionGroup var passphrase: BackupPassphraseOptions

    var isGiven: Bool { restoreKey != nil || passphrase.descriptor != nil }

    func opener(_ user: CommandUser) throws -> BackupOpener {
        guard let restoreKey else { return BackupOpener(passphrase: try passphrase.existing(user)) }
        return BackupOpener(try RestoreKey.read(restoreKey) { try passphrase.existing(user, of: "restore key") })
    }
}

/// The passphrase of a backup: typed, or one line from a descriptor.
struct BackupPassphraseOptions: PassphraseArguments {
    @Option(
        name: .customLong("passphrase-fd"),
        help: ArgumentHelp("Read the passphrase of the backup from this file descriptor (one line).", valueName: "n"))
    var descriptor: Int32?

    /// Reads the passphrase of a new backup; at a terminal it is typed twice.
    func new(_ user: CommandUser) throws -> SecretBytes {
        try given() ?? PasscodeInput.promptForNew("Passphrase of the backup", on: terminal(user))
    }

    /// Reads the passphrase of a backup or a restore key.
    func existing(_ user: CommandUser, of thing: String = "backup") throws -> SecretBytes {
        try given()
            ?? PasscodeInput.ask(
                "Passphrase of the \(thing) (\(TerminalPrompt.cancelHint)): ", on: terminal(user),
                bytesMax: ExportFormat.passphraseBytesMax)
    }

    /// Reads the passphrase for a new restore key.
    func newOfRestoreKey(_ user: CommandUser) throws -> SecretBytes {
        let passphrase = try given() ?? PasscodeInput.promptForNew("Passphrase of the restore key", on: terminal(user))
        guard passphrase.count >= ExportFormat.passphraseBytesMin else {
            throw Refusal(
                .passcodeTooWeak,
                "the passphrase of a restore key needs at least \(ExportFormat.passphraseBytesMin) characters: anyone who has the file can "
                    + "guess it")
        }
        return passphrase
    }
}
