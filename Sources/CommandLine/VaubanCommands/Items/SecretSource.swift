import ArgumentParser
import Glibc
import VaubanRefusal
import VaubanSecretBytes

/// Where a secret comes from: a prompt, standard input, or a descriptor; never an argument or the environment, which
/// other programs can read.
struct SecretSource: ParsableArguments {
    @Option(name: .customLong("secret-fd"), help: ArgumentHelp("Read the secret from this file descriptor, to its end.", valueName: "n"))
    var descriptor: Int32?

    @Flag(help: "Keep a newline at the end of a secret that is read; without this one newline is dropped.")
    var keepNewline = false

    @Flag(help: "The secret is hexadecimal digits, two a byte; for what is no text.")
    var hex = false

    @Flag(help: "Take an empty secret too, which is refused otherwise; on a terminal nothing is asked for then.")
    var empty = false

    static let bytesMax = 1 << 20
    var isStandard: Bool { descriptor == nil && !keepNewline && !hex }
    var isDefault: Bool { isStandard && !empty }
    private static let typedBytesMax = 1 << 16

    /// The secret for `what`. Nothing at all is what a pipe brings whose writer failed, so it is refused (`badParameter`) unless
    /// it is said to be meant.
    func read(_ user: CommandUser, what: String) throws -> SecretBytes {
        let given = try given(user, what: what)
        let secret = hex ? try HexSecret.bytes(of: given) : given
        guard empty || secret.count > 0 else {
            throw Refusal(.badParameter, "the secret is empty, so nothing was changed; to store an empty one, say --empty")
        }
        return secret
    }

    private func given(_ user: CommandUser, what: String) throws -> SecretBytes {
        let bytesMax = hex ? Self.bytesMax * 2 + 2 : Self.bytesMax
        if let descriptor { return try SecretReader.everything(from: descriptor, max: bytesMax, keepsNewline: keepNewline) }
        if isatty(STDIN_FILENO) == 0 {
            return try SecretReader.everything(from: STDIN_FILENO, max: bytesMax, keepsNewline: keepNewline)
        }
        if empty { return SecretBytes(count: 0) { _ in } }
        guard let terminal = user.terminal else {
            throw Refusal(
                .interactionNotAllowed, "no terminal to ask for the secret; send it to standard input, or name a descriptor: --secret-fd N"
            )
        }
        while true {
            let first = try Self.ask("Secret for \(what) (Ctrl-C cancels): ", on: terminal)
            guard first.count > 0 else {
                terminal.write("Nothing was typed; an empty secret is stored only with --empty. Once more:\n")
                continue
            }
            let second = try Self.ask("The same again: ", on: terminal)
            if first.equals(second) { return first }
            terminal.write("The two differ; nothing was stored. Once more:\n")
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
