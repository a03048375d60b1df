import ArgumentParser
import VaubanSecretBytes

struct GetItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Prints a secret and nothing else, or copies it into the clipboard.",
        discussion: """
            A newline is added only on a terminal. Where the item asks for you, you are asked here or at an approver; so are \
            you where another program keeps it, which is named by --owner. What is no text is not written to a terminal, which might obey \
            it: --hex \
            prints it as digits, --raw writes it all the same, and a pipe or a file gets its bytes as they are. With --copy it goes into \
            the desktop's clipboard (through wl-copy, xclip or xsel) and is taken out again after 45 seconds, unless you have copied \
            something else by then.

            Example:
              vauban get github/anna
              vauban get github/anna --copy
              vauban get mail/anna --owner program:/usr/bin/mail
              vauban get --url https://example.com/ --account anna
              vauban get key/file >file
            """)

    @Option(help: ArgumentHelp("Print an earlier value, as vauban history counts them: 1 is the one before.", valueName: "number"))
    var version: Int?

    @Flag(help: "Copy it into the clipboard instead of printing it.")
    var copy = false

    @Option(
        help: ArgumentHelp("With --copy: empty the clipboard after so long; 45s if it is not said.", valueName: "duration"),
        transform: { try TimeLength.seconds($0, unit: 1, max: 3600) })
    var clearAfter: Int64?

    private static let clearAfterDefault: Int64 = 45

    @OptionGroup var output: SecretOutput
    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    func validate() throws {
        if let version { try SecretOutput.checkNumber(version) }
        if copy, output.hex || output.raw {
            throw ValidationError("--copy copies the secret as it is; --hex and --raw are for printing it.")
        }
        guard let clearAfter else { return }
        guard copy else { throw ValidationError("--clear-after goes with --copy.") }
        if clearAfter == 0 {
            throw ValidationError("--clear-after is at least one second; to keep a secret in the clipboard, copy it yourself.")
        }
    }

    func run() throws {
        // Where there is no clipboard nobody is asked for a passcode.
        let holder = copy ? ClipboardHolder(tool: try .here(), seconds: clearAfter ?? Self.clearAfterDefault) : nil
        let session = try Session(user)
        try session.suggesting(selection) {
            let secret = try secret(session)
            guard let holder else { return try output.write(secret) }
            try holder.start(with: secret)
            say("Copied. The clipboard is emptied in \(TimeLength.words(holder.seconds)), unless it has something else by then.")
        }
    }

    private func secret(_ session: Session) throws -> SecretBytes {
        guard let version else { return try session.secret(selection, for: "get", reason: "get \(selection.shown)") }
        let query = try session.historyQuery(selection, for: "get", reason: "get an earlier value of \(selection.shown)")
        return try session.earlierSecret(version, of: query)
    }
}
