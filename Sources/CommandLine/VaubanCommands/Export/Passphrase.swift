import ArgumentParser
import VaubanAuthenticationClient
import VaubanRefusal
import VaubanSecretBytes

/// Options for a passphrase: typed, or one line from the descriptor of `--passphrase-fd`.
protocol PassphraseArguments: ParsableArguments {
    var descriptor: Int32? { get }
}

extension PassphraseArguments {
    /// Returns the passphrase from the descriptor; nil if none was given.
    func given() throws -> SecretBytes? {
        guard let descriptor else { return nil }
        let passphrase = try SecretReader.line(from: descriptor, max: ExportFormat.passphraseBytesMax)
        guard !passphrase.isEmpty else { throw Refusal(.badParameter, "The passphrase on descriptor \(descriptor) is empty") }
        return passphrase
    }

    /// Returns the terminal at which the passphrase is typed.
    func terminal(_ user: CommandUser) throws(Refusal) -> Terminal {
        guard let terminal = user.terminal else {
            throw Refusal(.interactionNotAllowed, "No terminal to ask for the passphrase; use --passphrase-fd N")
        }
        return terminal
    }
}

/// The passphrase of an export: typed, or one line from a descriptor.
struct PassphraseOptions: PassphraseArguments {
    @Option(
        name: .customLong("passphrase-fd"),
        help: ArgumentHelp("Read the passphrase of the export from this file descriptor (one line).", valueName: "n"))
    var descriptor: Int32?

    /// Reads the passphrase of a new export; at a terminal it is typed twice.
    func new(_ user: CommandUser) throws -> SecretBytes {
        let countMin = ExportFormat.passphraseBytesMin
        let why =
            "The passphrase of an export needs at least \(countMin) characters: anyone who has the file can guess it without limit"
        if let passphrase = try given() {
            guard passphrase.count >= countMin else { throw Refusal(.badParameter, why) }
            return passphrase
        }
        return try PasscodeInput.promptForNew("Passphrase of the export", on: terminal(user)) { (passphrase: borrowing SecretBytes) in
            passphrase.count >= countMin ? nil : "\(why)."
        }
    }

    func existing(_ user: CommandUser) throws -> SecretBytes {
        if let passphrase = try given() { return passphrase }
        return try PasscodeInput.ask(
            "Passphrase of the export (\(TerminalPrompt.cancelHint)): ", on: terminal(user), bytesMax: ExportFormat.passphraseBytesMax)
    }
}
