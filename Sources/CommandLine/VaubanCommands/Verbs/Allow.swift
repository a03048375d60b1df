import ArgumentParser
import Glibc
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanPlainText
import VaubanRefusal
import VaubanUserModel

struct Allow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow",
        abstract: "Let a program read an item that belongs to another owner, or list permissions.",
        discussion: """
            You approve each permission with your passcode or a finger. Name a program by its path, or as vauban list --all-owners \
            shows it. Without arguments, lists the permissions.

            Example:
              vauban allow
              vauban allow --json
              vauban allow /usr/bin/chat mail/anna --owner program:/usr/bin/mail
              vauban allow build ~/projects/tool/.build
              vauban allow terminal-prompts on
            """,
        subcommands: [AllowProgram.self, AllowBuild.self, AllowTerminalPrompts.self], defaultSubcommand: AllowProgram.self)
}

struct Disallow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disallow",
        abstract: "Revoke a permission.",
        discussion: """
            Example:
              vauban disallow /usr/bin/chat mail/anna --owner program:/usr/bin/mail
              vauban disallow build ~/projects/tool/.build
            """,
        subcommands: [DisallowProgram.self, DisallowBuild.self], defaultSubcommand: DisallowProgram.self)
}

struct AllowProgram: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "program", abstract: "Let a program read one item.", shouldDisplay: false)

    @Argument(
        help: ArgumentHelp("The program: a path, or an owner such as program:/usr/bin/mail.", valueName: "program"), completion: .file())
    var program: String?

    @OptionGroup var selection: ItemSelection

    @Flag(help: "Print the permissions as one JSON document.")
    var json = false

    @OptionGroup var user: UserOptions

    func validate() throws {
        guard program != nil else { return }
        if json { throw ValidationError("--json lists the permissions; leave out the program") }
        try selection.requireSomething()
        try selection.requireNoDesktopAttributes(for: "allow")
    }

    func run() throws {
        let client = try Permitting.client(user)
        guard let program else { return try show(client) }
        try Permitting.change(program, selection: selection, permits: true, client: client)
        say("Allowed.")
    }

    private func show(_ client: ServiceClient) throws {
        let permissions = try client.withUnlock { try client.keychain.permissions() }
        if json { return print(try ItemDescription.json(PermissionDocument.sorted(permissions))) }
        if permissions.isEmpty { say("No permissions yet. To give one: vauban allow PROGRAM ITEM") }
        let rows = permissions.map { Permitting.fields($0) }.sorted { $0.lexicographicallyPrecedes($1) }
        TextColumns(rows).write()
    }
}

struct DisallowProgram: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "program", abstract: "Revoke a program's permission to read an item.", shouldDisplay: false)

    @Argument(help: ArgumentHelp("The program, as vauban allow lists it.", valueName: "program"))
    var program: String

    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    func validate() throws {
        try selection.requireSomething()
        try selection.requireNoDesktopAttributes(for: "disallow")
    }

    func run() throws {
        try Permitting.change(program, selection: selection, permits: false, client: try Permitting.client(user))
        say("No longer allowed.")
    }
}

struct AllowBuild: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "build",
        abstract: "Accept new builds of programs in a folder without asking (weak: anything that can write there is accepted).")

    @Argument(help: ArgumentHelp("The folder.", valueName: "folder"), completion: .directory)
    var folder: String

    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try Permitting.client(user)
        let change = PermissionChange(.buildsIn, subject: try Permitting.folder(folder), permits: true)
        try client.withUnlock { try client.withPrompts { try client.keychain.permit(change, waiting: $0) } }
        say("New builds in this folder are accepted. Anything that can write there can pass for your program.")
    }
}

struct DisallowBuild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "build", abstract: "Ask again about new builds in a folder.")

    @Argument(help: ArgumentHelp("The folder.", valueName: "folder"), completion: .directory)
    var folder: String

    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try Permitting.client(user)
        let subject = try Permitting.allowedFolder(folder, client)
        let change = PermissionChange(.buildsIn, subject: subject, permits: false)
        try client.withUnlock { try client.keychain.permit(change) }
        say("Vauban asks again about new builds in this folder.")
    }
}

struct AllowTerminalPrompts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "terminal-prompts",
        abstract: "Choose whether other programs may show prompts on their own terminal, where they can read what you type.")

    @Argument(help: "The new state: on or off.")
    var state: Settings.Switch

    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        let device = try client.authentication.status().device
        try Passcode.requireSet(device)
        var settings = device.settings
        settings.allowsTerminalPrompts = state == .on
        let passcode = try Passcode.current(of: client)
        try client.authentication.configure(settings, passcode: passcode)
        say(
            state == .on ? "Allowed. A program that controls its terminal can read the passcode that you type there." : "No longer allowed."
        )
    }
}

/// The code that the commands for permissions share.
enum Permitting {
    /// Begins a command about permissions.
    ///
    /// - Throws: A refusal (`unsupported`) in user mode, which distinguishes no programs.
    static func client(_ options: UserOptions) throws -> ServiceClient {
        let client = try ServiceClient(options)
        guard client.service.mode == .system else {
            throw Refusal(.unsupported, "In user mode every program of yours is one owner, so there is nothing to permit")
        }
        return client
    }

    static func change(_ program: String, selection: ItemSelection, permits: Bool, client: ServiceClient) throws {
        let subject = try name(of: program)
        // The name may match either class; the first match is used.
        for kind in selection.kinds {
            var query = ItemQuery(kind: kind, attributes: selection.attributes(of: kind))
            query.includesSynchronizable = true
            let change = PermissionChange(.reads, subject: subject, permits: permits, item: query)
            do {
                return try client.withUnlock { try client.withPrompts { try client.keychain.permit(change, waiting: $0) } }
            } catch let refusal as Refusal where refusal.reason == .itemNotFound && refusal.detail == nil {}
        }
        let (shown, owner) = (selection.shown, selection.owner.map(SafeText.visible))
        throw Refusal(
            .itemNotFound,
            owner.map { "No item \(shown) of \($0). To list items with their owners: vauban list --all-owners" }
                ?? "No item \(shown) of yours. If another program keeps it, name that program: --owner program:/PATH")
    }

    /// Returns the owner name of a program: owner names as given, paths and commands on the PATH looked up.
    private static func name(of program: String) throws -> String {
        if ["program:", "flatpak:", "snap:", "build:", "anything run by "].contains(where: program.hasBytePrefix) { return program }
        var path = program
        if !program.contains("/") {
            let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
            let places: [String] = folders.split(separator: ":").map { "\($0)/\(program)" }
            guard let found = places.first(where: { access($0, X_OK) == 0 }) else {
                throw Refusal(.badParameter, "No program \(SafeText.visible(program)) on your PATH; name it by its path")
            }
            path = found
        }
        guard let application = ApplicationIdentifier.ofProgram(at: path) else {
            throw Refusal(.badParameter, "No program at \(SafeText.visible(path))")
        }
        return application.text
    }

    static func folder(_ path: String) throws -> String {
        guard let real = realpath(path, nil) else { throw Refusal(.badParameter, "No folder \(SafeText.visible(path))") }
        defer { free(real) }
        return String(cString: real)
    }

    /// Returns a permitted folder, as given or resolved: the folder may have been removed or replaced by a link since.
    static func allowedFolder(_ path: String, _ client: ServiceClient) throws -> String {
        let allowed = try client.withUnlock { try client.keychain.permissions() }.filter { $0.kind == .buildsIn }.map(\.subject)
        var plain = path
        while plain.utf8.count > 1, plain.hasByteSuffix("/") { plain = String(plain.unicodeScalars.dropLast()) }
        return allowed.containsBytes(of: plain) ? plain : try folder(path)
    }

    private static let shownMax = 160

    /// Returns the fields of a row of vauban allow.
    static func fields(_ permission: Permission) -> [String] {
        // Programs choose these names: shorten them in the middle and escape invisible characters.
        let subject = SafeText.path(permission.subject, max: shownMax)
        let object = SafeText.path(permission.object, max: shownMax)
        return switch permission.kind {
        case .reads: ["reads", subject, object]
        case .sameProgram: ["same program", subject, object]
        case .buildsIn: ["new builds", subject, "weak: anything that can write there is accepted"]
        case .team: ["team", subject, object]
        case .offers: ["offers", subject, "\(object) of its items to other programs, which need your consent"]
        }
    }
}
