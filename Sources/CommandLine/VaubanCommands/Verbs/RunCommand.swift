import ArgumentParser
import VaubanRefusal
import VaubanSecretBytes

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs a command with secrets in its environment.",
        discussion: """
            Each --env names a variable and the item whose secret it gets. An --env-file has a NAME=value a line; where the value is \
            vauban://service/account, the variable gets the secret of that item, so that the file has none in it. Of two values of one \
            variable the later file counts, and --env before any file. The command takes this process's place, so its \
            signals and its end are its own; nothing starts unless every secret is there. Whatever runs as you can read the \
            environment of a program of yours.

            Example:
              vauban run --env PGPASSWORD=db/anna -- psql -h db.example.com -U anna
              vauban run --env-file .env -- npm start
            """)

    @Option(name: .customLong("env"), help: ArgumentHelp("A variable of the command, and its item.", valueName: "name=item"))
    var variables: [String] = []

    @Option(
        name: .customLong("env-file"), help: ArgumentHelp("A file of variables, whose values may name items.", valueName: "file"),
        completion: .file())
    var files: [String] = []

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    @OptionGroup var user: UserOptions

    func validate() throws {
        if command.isEmpty { throw ValidationError("Which command? Name it after --: vauban run --env NAME=item -- COMMAND") }
        if variables.isEmpty, files.isEmpty {
            throw ValidationError("Which secrets? Name each with its variable: --env NAME=item, or a file of them: --env-file FILE")
        }
        let names = try variables.map { try VariableOfItem($0).name }
        if Set(names).count < names.count { throw ValidationError("One variable takes one secret.") }
    }

    func run() throws {
        var wanted = try variables.map { try VariableOfItem($0) }
        var environment = CommandEnvironment()
        // The last file first, and only the first value of each variable.
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
            // Of several items the user must know which it was.
            let detail = [shown, refusal.detail ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
            throw Refusal(refusal.reason, detail, triesLeft: refusal.triesLeft, secondsToWait: refusal.secondsToWait)
        } catch let several as SeveralMatches {
            say("vauban: \(variable.name)=\(shown) means more than one item")
            throw several
        }
    }
}

/// What `--env` says: a variable, and an item in one word.
private struct VariableOfItem {
    let name: String
    let selection: ItemSelection

    init(_ text: String) throws {
        guard let sign = text.firstIndex(of: "=") else { throw ValidationError("--env wants NAME=item.") }
        try self.init(name: String(text[..<sign]), word: String(text[text.index(after: sign)...]))
    }

    init(name: String, word: String) throws {
        guard VariableName.isOne(name) else {
            throw ValidationError("\(VariableName.rule.prefix(1).uppercased())\(VariableName.rule.dropFirst()).")
        }
        guard !word.isEmpty else { throw ValidationError("Which item? \(name) wants one as service/account.") }
        self.name = name
        selection = try ItemSelection.parse(["--", word])
    }
}
