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
            overrides files. vauban is replaced by the command, and starts it only if every secret was read. Programs that run as \
            you can read the environment of the command.

            Example:
              vauban run --env PGPASSWORD=db/anna -- psql -h db.example.com -U anna
              vauban run --env-file .env -- npm start
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
        if variables.isEmpty, files.isEmpty {
            throw ValidationError("No secrets given: use --env NAME=item or --env-file FILE")
        }
        let names = try variables.map { try VariableOfItem($0).name }
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
        let session = try Session(user)
        for variable in wanted { environment.add(variable.name, try secret(variable, session)) }
        throw ExitCode(environment.become(command, closing: user.passcodeDescriptor))
    }

    private func secret(_ variable: VariableOfItem, _ session: Session) throws -> SecretBytes {
        let shown = variable.selection.shown
        do {
            let reason = "give \(shown) to \(SafeText.line(command.first ?? "", max: 100))"
            let secret = try session.secret(variable.selection, for: "get", reason: reason)
            try CommandEnvironment.check(secret, name: variable.name)
            return secret
        } catch let refusal as Refusal {
            // With several items, the message must name the one.
            if refusal.reason == .itemNotFound, refusal.detail == nil { throw Refusal.noItem(shown) }
            let what = refusal.detail ?? (refusal.reason.detailIsComplete ? refusal.message : "")
            let detail = [shown, what].filter { !$0.isEmpty }.joined(separator: ": ")
            throw Refusal(refusal.reason, detail, attemptsLeft: refusal.attemptsLeft, secondsToWait: refusal.secondsToWait)
        } catch let several as SeveralMatches {
            say("vauban: \(variable.name)=\(shown) matches more than one item")
            throw several
        }
    }
}

/// The argument of `--env`: a variable and the name of an item.
private struct VariableOfItem {
    let name: String
    let selection: ItemSelection

    init(_ text: String) throws {
        guard let sign = text.firstIndex(of: "=") else { throw ValidationError("--env takes NAME=item") }
        try self.init(name: String(text[..<sign]), word: String(text[text.index(after: sign)...]))
    }

    init(name: String, word: String) throws {
        guard VariableName.isOne(name) else {
            throw ValidationError(ParsingError(VariableName.rule).sentence)
        }
        guard !word.isEmpty else { throw ValidationError("No item for \(name): use \(name)=service/account") }
        self.name = name
        selection = try ItemSelection.parse(["--", word])
    }
}
