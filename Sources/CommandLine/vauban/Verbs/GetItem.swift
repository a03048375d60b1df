import ArgumentParser

struct GetItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Prints a secret, and nothing else.",
        discussion: """
            A newline is added only on a terminal. Where the item asks for you, you are asked here or at an approver; so are \
            you where another program keeps it, which is named by --owner. What is no text is not written to a terminal, which might obey it: --hex \
            prints it as digits, --raw writes it all the same, and a pipe or a file gets its bytes as they are.

            Example:
              vauban get github/anna
              vauban get mail/anna --owner program:/usr/bin/mail
              vauban get --url https://example.com/ --account anna
              vauban get key/file >file
            """)

    @Option(help: ArgumentHelp("Print an earlier value, as vauban history counts them: 1 is the one before.", valueName: "number"))
    var version: Int?

    @OptionGroup var output: SecretOutput
    @OptionGroup var selection: ItemSelection
    @OptionGroup var person: PersonOptions

    func validate() throws {
        if let version { try SecretOutput.checkNumber(version) }
    }

    func run() throws {
        let session = try Session(person)
        try session.suggesting(selection) {
            guard let version else { return try output.write(try session.secret(selection, for: "get", reason: "get \(selection.shown)")) }
            let query = try session.historyQuery(selection, for: "get", reason: "get an earlier value of \(selection.shown)")
            try output.write(try session.earlierSecret(version, of: query))
        }
    }
}
