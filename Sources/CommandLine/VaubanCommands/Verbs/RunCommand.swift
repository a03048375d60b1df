import ArgumentParser
import VaubanKeychainClient
import VaubanRefusal
import VaubanSecretBytes

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a command with secrets in its environment.",
        discussion: """
            --env sets a variable to the secret of an item. --env-file reads NAME=value lines; a value vauban://service/account \
            stands for the secret of that item, so the file itself contains none. Later files override earlier ones, and --env \
            overrides files. A variable of vauban's own environment with such a value is treated the same. vauban is replaced by \
            the command, and starts it only if every secret was read. Programs that run as you can read the environment of the command.

            Example:
              vauban run --env PGPASSWORD=db/anna -- psql -h db.example.com -U anna
              vauban run --env-file .env -- npm start
              PGPASSWORD=vauban://db/anna vauban run -- psql
            """)

    @Option(name: .customLong("env"), help: ArgumentHelp("A variable and its item.", valueName: "name=item"))
    var variables: [String] = []

    @Option(
        name: .customLong("env-file"), help: ArgumentHelp("A file of variables; values may name items.", valueName: "file"),
        completion: .file())
    var files: [String] = []

    @Argument(parsing: .postTerminator, help: "The command and its arguments.")
    var command: [String] = []

    @OptionGroup var user: UserOptions

    func validate() throws {
        if command.isEmpty { throw ValidationError("No command given: vauban run --env NAME=item -- COMMAND") }
        if variables.isEmpty, files.isEmpty, !InheritedReferences.exist {
            throw ValidationError(
                "No secrets given: use --env NAME=item, --env-file FILE, or a variable with a value vauban://service/account")
        }
        let names: [String]
        do { names = try variables.map { try VariableOfItem($0).name } } catch let refusal as Refusal {
            throw ValidationError(refusal.message)
        }
        if Set(names).count < names.count { throw ValidationError("Each variable can be set only once") }
    }

    func run() throws {
        var wanted = try variables.map { try VariableOfItem($0) }
        var environment = CommandEnvironment()
        // Later files take precedence over earlier ones.
        for (name, value) in try files.map({ try EnvironmentFile($0) }).reversed().flatMap({ $0.variables.reversed() }) {
            guard !wanted.contains(where: { $0.name == name }), !environment.has(name) else { continue }
            switch value {
            case .plain(let text): environment.add(name, SecretBytes(copying: Array(text.utf8)))
            case .item(let word): wanted.append(try VariableOfItem(name: name, word: word))
            }
        }
        for (name, word) in try InheritedReferences.items() where !environment.has(name) && !wanted.contains(where: { $0.name == name }) {
            wanted.append(try VariableOfItem(name: name, word: word))
        }
        let client = try ServiceClient(user)
        for variable in wanted { environment.add(variable.name, try secret(variable, client)) }
        throw ExitCode(environment.become(command, closing: user.passcodeDescriptor))
    }

    private func secret(_ variable: VariableOfItem, _ client: ServiceClient) throws -> SecretBytes {
        let reason = "give \(variable.item.selection.shown) to \(SafeText.line(command.first ?? "", max: 100))"
        return try variable.item.secret(client, reason: reason) { try CommandEnvironment.check($0, name: variable.name) }
    }
}

/// A variable and the item whose secret it gets.
private struct VariableOfItem {
    let name: String
    let item: NamedItem

    /// Parses the argument of `--env`.
    init(_ text: String) throws {
        guard let sign = text.firstIndex(of: "=") else {
            throw ValidationError("--env needs a variable and an item: --env NAME=service/account")
        }
        try self.init(name: String(text[..<sign]), word: String(text[text.index(after: sign)...]))
    }

    init(name: String, word: String) throws {
        guard VariableName.isOne(name) else {
            throw ValidationError("--env \(SafeText.line(name, max: 100)): \(VariableName.rule)")
        }
        guard !word.isEmpty else { throw ValidationError("No item for \(name): use --env \(name)=service/account") }
        self.name = name
        item = try NamedItem(word, label: "\(name)=\(SafeText.line(word, max: 150))")
    }
}
