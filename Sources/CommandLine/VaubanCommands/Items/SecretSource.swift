import ArgumentParser
import Glibc
import VaubanRefusal
import VaubanSecretBytes

/// The source of a secret: a prompt, standard input or a descriptor. It is never an argument or the environment, which other programs can
/// read.
struct SecretSource: ParsableArguments {
    @Option(name: .customLong("secret-fd"), help: ArgumentHelp("Read the secret from this file descriptor.", valueName: "n"))
    var descriptor: Int32?

    @Flag(help: "Keep a newline at the end of the secret, which is dropped otherwise.")
    var keepNewline = false

    @Flag(help: "Read the secret as hexadecimal digits.")
    var hex = false

    @Flag(help: "Allow an empty secret; on a terminal, do not ask for one.")
    var empty = false

    static let bytesMax = 1 << 20
    var isStandard: Bool { descriptor == nil && !keepNewline && !hex }
    var isDefault: Bool { isStandard && !empty }
    private static let typedBytesMax = 1 << 16

    /// Reads the secret for `what`. An empty secret is refused (`badParameter`) unless an option allows it, because a pipe is also empty if
    /// its writer failed. The refusal names the option if the caller `offersEmpty`.
    func read(_ user: CommandUser, what: String, offersEmpty: Bool = true) throws -> SecretBytes {
        let given = try given(user, what: what, offersEmpty: offersEmpty)
        let secret = hex ? try HexSecret.bytes(of: given) : given
        guard empty || secret.count > 0 else {
            let way = offersEmpty ? ". To store an empty secret, use --empty" : ""
            throw Refusal(.badParameter, "The secret is empty; nothing was changed\(way)")
        }
        return secret
    }

    private func given(_ user: CommandUser, what: String, offersEmpty: Bool) throws -> SecretBytes {
        let bytesMax = hex ? Self.bytesMax * 2 + 2 : Self.bytesMax
        if let descriptor { return try SecretReader.everything(from: descriptor, max: bytesMax, keepsNewline: keepNewline) }
        if isatty(STDIN_FILENO) == 0 {
            return try SecretReader.everything(from: STDIN_FILENO, max: bytesMax, keepsNewline: keepNewline)
        }
        if empty { return SecretBytes(count: 0) { _ in } }
        guard let terminal = user.terminal else {
            throw Refusal(
                .interactionNotAllowed, "No terminal to ask for the secret; use standard input or --secret-fd N"
            )
        }
        while true {
            let first = try Self.ask("Secret for \(what) (Ctrl-C cancels): ", on: terminal)
            guard first.count > 0 else {
                terminal.write("The secret is empty. Try again, or cancel\(offersEmpty ? " and use --empty" : "").\n")
                continue
            }
            let second = try Self.ask("Repeat: ", on: terminal)
            if first.equals(second) { return first }
            terminal.write("The entries differ. Try again.\n")
        }
    }

    private static func ask(_ prompt: String, on terminal: Terminal) throws(Refusal) -> SecretBytes {
        switch terminal.readSecretLine(prompt, bytesMax: typedBytesMax) {
        case .cancelled: throw Refusal(.cancelled)
        case .withdrawn: throw Refusal(.cancelled)
        case .line(let secret): return secret
        }
    }
}
