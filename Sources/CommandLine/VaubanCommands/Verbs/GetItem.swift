import ArgumentParser
import VaubanSecretBytes
import VaubanUserModel

struct GetItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print a secret, or copy it to the clipboard.",
        discussion: """
            Prints the secret and nothing else; on a terminal a newline follows. An item that needs your approval, or that another \
            program owns (--owner), prompts you first. A secret that is not text is not written to a terminal; use --hex or --raw, \
            or redirect the output. --copy uses the desktop's clipboard (wl-copy, xclip or xsel) and clears it after 45 seconds, \
            unless it has changed by then.

            Example:
              vauban get github/anna
              vauban get github/anna --copy
              vauban get mail/anna --owner program:/usr/bin/mail
              vauban get --url https://example.com/ --account anna
              vauban get key/file >file
            """)

    @Option(help: ArgumentHelp("Print the earlier secret with this number in vauban history; 1 is the previous one.", valueName: "number"))
    var version: Int?

    @Flag(name: [.long, .customShort("c")], help: "Copy the secret to the clipboard instead of printing it.")
    var copy = false

    @Option(
        help: ArgumentHelp("With --copy: clear the clipboard after this time (default: 45s).", valueName: "duration"),
        transform: { try DurationArgument.seconds($0, unit: 1, max: 3600) })
    var clearAfter: Int64?

    private static let clearAfterDefault: Int64 = 45

    @OptionGroup var output: SecretOutput
    @OptionGroup var selection: ItemSelection
    @OptionGroup var surplus: ExtraArguments
    @OptionGroup var user: UserOptions

    func validate() throws {
        try selection.requireSomething()
        try surplus.requireNone(after: selection, for: "get")
        if let version { try SecretOutput.checkNumber(version) }
        if copy, output.hex || output.raw {
            throw ValidationError("--hex and --raw cannot be combined with --copy")
        }
        guard let clearAfter else { return }
        guard copy else { throw ValidationError("--clear-after requires --copy") }
        if clearAfter == 0 {
            throw ValidationError("--clear-after must be at least one second")
        }
    }

    func run() throws {
        // Check this before prompting for a passcode.
        let holder = copy ? ClipboardHolder(tool: try .here(), seconds: clearAfter ?? Self.clearAfterDefault) : nil
        let client = try ServiceClient(user)
        try client.withSuggestions(selection, otherVerb: "get") {
            let secret = try secret(client)
            guard let holder else { return try output.write(secret) }
            try holder.start(with: secret)
            say("Copied. The clipboard is cleared in \(DurationText.exact(holder.seconds)), unless it has changed by then.")
        }
    }

    private func secret(_ client: ServiceClient) throws -> SecretBytes {
        guard let version else { return try client.secret(selection, for: "get", reason: "get \(selection.shown)") }
        let query = try client.historyQuery(selection, for: "get", reason: "get an earlier secret of \(selection.shown)")
        return try client.earlierSecret(version, of: query, named: selection.shown)
    }
}
