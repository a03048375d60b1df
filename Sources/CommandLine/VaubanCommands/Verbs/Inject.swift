import ArgumentParser
import Glibc
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

struct Inject: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inject",
        abstract: "Fill a template with secrets.",
        discussion: """
            Writes the template with the secret of an item in the place of each {{ vauban://service/account }}, and everything else as \
            it is. If an item is missing, or you refuse one, writes nothing. Only you can read the output file; delete it when its \
            program has read it. A file that exists is replaced only with --replace.

            Example:
              vauban inject -i server.conf.template -o server.conf
              echo 'password = {{ vauban://db/anna }}' | vauban inject | psql-setup
            """)

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The template; - for standard input (default).", valueName: "file"), completion: .file())
    var input: String?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to write; - for standard output (default).", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Replace the output file if it exists.")
    var replace = false

    @OptionGroup var user: UserOptions

    private static let bytesMax = 16 << 20
    private var target: String? { output == "-" ? nil : output }

    func validate() throws {
        if replace, target == nil { throw ValidationError("--replace requires --output FILE") }
    }

    func run() throws {
        guard input != nil || isatty(STDIN_FILENO) == 0 else {
            throw Refusal(.badParameter, "No template given: vauban inject --input FILE, or a pipe")
        }
        let template = try InputFile.read(input ?? "-", max: Self.bytesMax)
        let parts = try parts(of: template)
        if let target { try check(target) }
        let filled = try SecretTemplate.filled(template, parts: parts, secrets: try secrets(of: parts), bytesMax: Self.bytesMax)
        guard let target else { return try write(filled) }
        let file = try NewFile(path: target, isShared: true)
        try file.write(filled)
        try file.sync()
        if replace { return try file.name(replacing: true) }
        guard try file.nameUnlessTaken() else { throw Self.exists(target) }
    }

    private func parts(of template: borrowing SecretBytes) throws(Refusal) -> [SecretTemplate.Part] {
        let name = input.map { $0 == "-" ? "Standard input" : SafeText.visible($0) } ?? "Standard input"
        do throws(ParsingError) {
            let parts = try SecretTemplate.parts(of: template)
            let strays = SecretTemplate.strays(in: template, parts: parts)
            if let line = strays.inBraces { throw ParsingError("line \(line): a reference is written {{ vauban://service/account }}") }
            if let line = strays.bare {
                say("Note: \(name), line \(line): a vauban:// address without {{ }} is copied as it is")
            }
            return parts
        } catch {
            throw Refusal(.badParameter, "\(name), \(error.why)")
        }
    }

    /// Checks, before the user is prompted for anything, that the output can be written.
    private func check(_ path: String) throws(Refusal) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return }
        guard replace else { throw Self.exists(path) }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw Refusal(.badParameter, "\(SafeText.visible(path)) is not a file, so it is not replaced")
        }
    }

    private func write(_ filled: borrowing SecretBytes) throws(Refusal) {
        guard isatty(STDOUT_FILENO) == 0 || filled.isTextForTerminal() else {
            throw Refusal(.badParameter, "The filled template is not text and was not written to the terminal; use --output FILE")
        }
        guard filled.withUnsafeBytes({ writeAll($0, to: STDOUT_FILENO) }) else { throw Refusal.notWritten("The filled template") }
    }

    private static func exists(_ path: String) -> Refusal {
        Refusal(.badParameter, "\(SafeText.visible(path)) already exists; to replace it: --replace")
    }

    /// Reads each item once.
    private func secrets(of parts: [SecretTemplate.Part]) throws -> [String: SecretBox] {
        var secrets: [String: SecretBox] = [:]
        var client: ServiceClient?
        for case .item(let word) in parts where secrets[word] == nil {
            let open = try client ?? ServiceClient(user)
            client = open
            let item = try NamedItem(word)
            let place = target.map { SafeText.line($0, max: 100) } ?? "standard output"
            secrets[word] = SecretBox(try item.secret(open, reason: "write \(item.selection.shown) to \(place)"))
        }
        return secrets
    }
}
