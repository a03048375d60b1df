import ArgumentParser
import VaubanAccessPolicy
import VaubanSecretBytes

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs a command with secrets in its environment.",
        discussion: """
            Each --env names a variable and the item whose secret it gets. The command takes this process's place, so its \
            signals and its end are its own; nothing starts unless every secret is there. Whatever runs as you can read the \
            environment of a program of yours.

            Example:
              vauban run --env PGPASSWORD=db/anna -- psql -h db.example.com -U anna
            """)

    @Option(name: .customLong("env"), help: ArgumentHelp("A variable of the command, and its item.", valueName: "name=item"))
    var variables: [String] = []

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    @OptionGroup var person: PersonOptions

    func validate() throws {
        if command.isEmpty { throw ValidationError("Which command? Name it after --: vauban run --env NAME=item -- COMMAND") }
        if variables.isEmpty { throw ValidationError("Which secrets? Name each with its variable: --env NAME=item") }
        let names = try variables.map { try VariableOfItem($0).name }
        if Set(names).count < names.count { throw ValidationError("One variable takes one secret.") }
    }

    func run() throws {
        let wanted = try variables.map { try VariableOfItem($0) }
        let session = try Session(person)
        var environment = CommandEnvironment()
        for variable in wanted { environment.add(variable.name, try secret(variable, session)) }
        throw ExitCode(environment.become(command, closing: person.passcodeDescriptor))
    }

    private func secret(_ variable: VariableOfItem, _ session: Session) throws -> SecretBytes {
        let shown = variable.selection.shown
        do {
            let reason = "give \(shown) to \(SafeText.line(command.first ?? "", max: 100))"
            let secret = try session.secret(variable.selection, for: "get", reason: reason)
            try CommandEnvironment.check(secret, name: variable.name)
            return secret
        } catch let refusal as Refusal {
            // Of several items the person must know which it was.
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
        let name = String(text[..<sign])
        let word = String(text[text.index(after: sign)...])
        guard name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil else {
            throw ValidationError("A variable has a name of letters, digits and _, and begins with no digit.")
        }
        guard !word.isEmpty else { throw ValidationError("Which item? \(name) wants one as service/account.") }
        self.name = name
        selection = try ItemSelection.parse(["--", word])
    }
}
