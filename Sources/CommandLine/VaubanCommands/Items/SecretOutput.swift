import ArgumentParser
import Glibc
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes

/// How a secret is printed.
struct SecretOutput: ParsableArguments {
    @Flag(help: "Print hexadecimal digits, two a byte.")
    var hex = false

    @Flag(help: "Write the bytes to a terminal too, whatever they are.")
    var raw = false

    func validate() throws {
        if hex, raw { throw ValidationError("It is --hex or --raw, not both.") }
    }

    /// The number of an earlier value.
    static func checkNumber(_ number: Int) throws {
        guard (1...Int(HistoryRequest.numberMax)).contains(number) else {
            throw ValidationError("An earlier value has a number from 1, the newest, to \(HistoryRequest.numberMax).")
        }
    }

    /// Writes the secret and nothing else; on a terminal, which might obey what is no text, that is refused without `--raw`.
    func write(_ secret: borrowing SecretBytes) throws {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        guard hex || raw || !isTerminal || secret.isTextForTerminal() else {
            say(
                """
                vauban: the secret is \(count(secret.count, "byte")) that are no text, so a terminal is not given them; say --hex or \
                --raw, or send them to a file
                """
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
