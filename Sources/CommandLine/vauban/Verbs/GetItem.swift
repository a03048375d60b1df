import ArgumentParser
import Glibc
import VaubanAccessPolicy
import VaubanSecretBytes

struct GetItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Prints a secret, and nothing else.",
        discussion: """
            A newline is added only on a terminal. Where the item asks for you, you are asked here or at an approver; so are \
            you where another program keeps it. What is no text is not written to a terminal, which might obey it: --hex \
            prints it as digits, --raw writes it all the same, and a pipe or a file gets its bytes as they are.

            Example:
              vauban get github/anna
              vauban get --url https://example.com/ --account anna
              vauban get key/file >file
            """)

    @Flag(help: "Print hexadecimal digits, two a byte.")
    var hex = false

    @Flag(help: "Write the bytes to a terminal too, whatever they are.")
    var raw = false

    @OptionGroup var selection: ItemSelection
    @OptionGroup var person: PersonOptions

    func validate() throws {
        if hex, raw { throw ValidationError("It is --hex or --raw, not both.") }
    }

    func run() throws {
        let secret = try Session(person).secret(selection, for: "get", reason: "get \(selection.shown)")
        let isTerminal = isatty(STDOUT_FILENO) == 1
        guard hex || raw || !isTerminal || secret.isTextForTerminal() else {
            say(
                "vauban: the secret is \(count(secret.count, "byte")) that are no text, so a terminal is not given them; say --hex or --raw, or send them to a file"
            )
            throw ExitCode(CommandEnd.usage)
        }
        if hex { return try Self.write(HexSecret.digits(of: secret), isTerminal) }
        try Self.write(secret, isTerminal)
    }

    private static func write(_ secret: borrowing SecretBytes, _ isTerminal: Bool) throws {
        let isComplete = secret.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) }
        guard isComplete else { throw Refusal(.storageFailed, "the secret could not be written to standard output") }
        if isTerminal { writeText("\n", to: STDOUT_FILENO) }
    }
}
