import ArgumentParser
import Foundation
import Glibc
import VaubanAccessPolicy
import VaubanCodeSigning
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanRefusal

struct Team: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "team",
        abstract: "Manage the teams that sign programs: your own keys, and whom you trust.",
        discussion: """
            A team is a key, and its identifier is derived from the key. A team that you trust can give its programs the items of its \
            other programs, and nothing of yours.

            Example:
              vauban team new acme
              vauban team trust ./tool --name "Acme Tools"
              vauban team list
              vauban team distrust "Acme Tools"
            """,
        subcommands: [TeamNew.self, TeamList.self, TeamTrust.self, TeamDistrust.self, TeamDelete.self])
}

struct TeamNew: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Create a team: a key that never leaves the enclave; print the team identifier.",
        discussion: """
            The key cannot be copied and is lost with this device. Programs signed with another key belong to another team.

            Example:
              vauban team new acme --require presence
            """)

    @Argument(help: "The name of the team.") var name: String
    @OptionGroup var protection: ProtectionOptions
    @OptionGroup var user: UserOptions

    func validate() throws { try TeamKeyring.check(name: name) }

    func run() throws { print(try TeamKeyring(try ServiceClient(user)).make(name, protection).team.text) }
}

struct TeamList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List your own teams, and those that you or root trust.",
        discussion: """
            Example:
              vauban team list
              vauban team list --json
            """)

    @OptionGroup var description: DescriptionOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        let keys = try TeamKeyring(client).keys()
        let trusted = try Self.trusted(client)
        if description.json {
            return print(try ItemDescription.json(keys.map { TeamDocument($0) } + trusted.map { TeamDocument(trusted: $0) }))
        }
        let own: [[String?]] = keys.map { ["own", $0.team.text, SafeText.visible($0.name), $0.needsApproval ? "prompts" : nil] }
        let others = trusted.map { team -> [String?] in
            let words = team.object.split(separator: "\t").map { SafeText.visible(String($0)) }
            let fields: [String] = ["trusted", team.subject] + words
            return fields
        }
        TextColumns(own + others).write()
    }

    private static func trusted(_ client: ServiceClient) throws -> [Permission] {
        do {
            return try client.withUnlock { try client.keychain.permissions() }.filter { $0.kind == .team }
        } catch let refusal as Refusal where refusal.reason == .notAllowedHere {
            // User mode trusts no teams.
            return []
        }
    }
}

struct TeamTrust: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Trust the signatures of a team on this machine.",
        discussion: """
            You approve this with your passcode or a finger. Name the team by its identifier, or by a program that it signed; compare the \
            identifier with what the team publishes.

            Example:
              vauban team trust ./tool --name "Acme Tools"
            """)

    @Argument(help: ArgumentHelp("A team identifier, a team of yours, or a signed program.", valueName: "team"), completion: .file())
    var team: String
    @Option(help: "Your name for the team (default: the name of your own team).") var name: String?
    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        let (team, ownName) = try Self.team(self.team, client)
        guard let name = name ?? ownName else { throw ValidationError("Give the team a name: --name NAME") }
        try TeamKeyring.check(name: name)
        let change = PermissionChange(.team, subject: team.text, permits: true, name: name)
        try client.withUnlock { try client.withPrompts { try client.keychain.permit(change, waiting: $0) } }
        say("Programs signed by \(SafeText.visible(name)) (\(team)) now keep their items across builds.")
    }

    /// Returns the team that an argument identifies, and its name if it is the user's own.
    private static func team(_ text: String, _ client: ServiceClient) throws -> (TeamIdentifier, name: String?) {
        if let key = try TeamKeyring(client).keys().first(where: { $0.name == text || $0.team.text == text }) {
            return (key.team, key.name)
        }
        if let team = TeamIdentifier(text: text) { return (team, nil) }
        guard access(text, F_OK) == 0 else {
            throw Refusal(
                .itemNotFound, "No team and no program \(SafeText.visible(text)). A team identifier is 32 capital letters and digits")
        }
        let file = try ExecutableFile(text)
        guard case .valid(_, let team) = file.findings.signature else {
            throw Refusal(.badParameter, SignatureDescription(file, trusted: [:], now: .now).line)
        }
        return (team, nil)
    }
}

struct TeamDistrust: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "distrust",
        abstract: "Stop trusting the signatures of a team.",
        discussion: """
            The items of its programs stay; vauban list --all-owners shows them.

            Example:
              vauban team distrust "Acme Tools"
            """)

    @Argument(help: ArgumentHelp("A team identifier, or your name for the team.", valueName: "team")) var team: String
    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        let trusted = try client.withUnlock { try client.keychain.permissions() }.filter { $0.kind == .team }
        let named = trusted.filter { $0.subject == team || $0.object == team }
        guard named.count < 2 else {
            let teams = named.map(\.subject).joined(separator: ", ")
            throw Refusal(.badParameter, "You call several teams \(SafeText.visible(team)): \(teams). Name one by its identifier")
        }
        guard let found = named.first else {
            if trusted.contains(where: { $0.object == "\(team)\tby root" }) { throw Self.byRoot }
            throw Refusal(.itemNotFound, "You trust no team \(SafeText.visible(team)). To list them: vauban team list")
        }
        guard !found.object.hasSuffix("\tby root") else { throw Self.byRoot }
        let change = PermissionChange(.team, subject: found.subject, permits: false)
        try client.withUnlock { try client.keychain.permit(change) }
        say("The signatures of \(SafeText.visible(found.object)) no longer count.")
    }

    private static var byRoot: Refusal {
        Refusal(.notAllowedHere, "Root trusts this team for all users; only root can end that, in /etc/vauban/entitlements")
    }
}

struct TeamDelete: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Destroy the key of a team of yours.",
        discussion: """
            What was signed stays signed. Nothing more can be signed as this team, on any machine.

            Example:
              vauban team delete acme
            """)

    @Argument(help: "The name of the team.") var name: String
    @Flag(help: "Skip confirmation.") var yes = false
    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        let keyring = TeamKeyring(client)
        let key = try keyring.key(name)
        // In a script, running the command is the confirmation.
        if !yes, let terminal = client.user.terminal {
            terminal.write("\(SafeText.visible(key.name)) (\(key.team))\n")
            guard terminal.readWord("Destroy its key? Type yes to confirm: ") == "yes" else {
                throw Refusal(.cancelled, "the key was not destroyed")
            }
        }
        try keyring.delete(name)
    }
}
