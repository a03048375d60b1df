import ArgumentParser
import Glibc
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes

/// The options for how a secret is printed.
struct SecretOutput: ParsableArguments {
    @Flag(help: "Print the secret as hexadecimal digits.")
    var hex = false

    @Flag(help: "Write the secret to a terminal even if it is not text.")
    var raw = false

    func validate() throws {
        if hex, raw { throw ValidationError("Use --hex or --raw, not both") }
    }

    /// Checks the number of an earlier value.
    static func checkNumber(_ number: Int) throws {
        guard (1...Int(HistoryRequest.numberMax)).contains(number) else {
            throw ValidationError("The number of an earlier secret must be from 1, the newest, to \(HistoryRequest.numberMax)")
        }
    }

    /// Writes the secret and nothing else. Refuses to write bytes that are not text to a terminal, which might interpret them, unless
    /// `--raw` is set.
    func write(_ secret: borrowing SecretBytes) throws {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        guard hex || raw || !isTerminal || secret.isTextForTerminal() else {
            say(
                """
                vauban: The secret (\(count(secret.count, "byte"))) is not text and was not written to the terminal; use --hex or --raw, \
                or redirect the output
                """
            )
            throw ExitCode(CommandEnd.usage)
        }
        if hex { return try Self.write(HexSecret.digits(of: secret), isTerminal) }
        try Self.write(secret, isTerminal)
    }

    private static func write(_ secret: borrowing SecretBytes, _ isTerminal: Bool) throws {
        let isComplete = secret.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) }
        guard isComplete else { throw Refusal.notWritten("The secret") }
        if isTerminal { writeText("\n", to: STDOUT_FILENO) }
    }
}
