import ArgumentParser
import Glibc
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanPlainText
import VaubanRefusal
import VaubanUserModel

struct Allow: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lets a program read an item of another, or shows what is allowed.",
        discussion: """
            You are asked for your passcode or finger first. A program is named by its path, or as vauban list --all-owners names owners. \
            Without words it shows what is allowed.

            Example:
              vauban allow
              vauban allow /usr/bin/chat mail/anna --owner program:/usr/bin/mail
              vauban allow build ~/projects/tool/.build
              vauban allow terminal-prompts on
            """,
        subcommands: [AllowProgram.self, AllowBuild.self, AllowTerminalPrompts.self], defaultSubcommand: AllowProgram.self)
}

struct Disallow: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Takes back what was allowed.",
        discussion: """
            Example:
              vauban disallow /usr/bin/chat mail/anna
              vauban disallow build ~/projects/tool/.build
            """,
        subcommands: [DisallowProgram.self, DisallowBuild.self], defaultSubcommand: DisallowProgram.self)
}

struct AllowProgram: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "program", abstract: "Lets a program read one item.", shouldDisplay: false)

    @Argument(help: ArgumentHelp("The program: its path, or its name as an owner.", valueName: "program"), completion: .file())
    var program: String?

    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        guard let program else { return try show(session) }
        try Permitting.change(program, selection, permits: true, session)
        say("Allowed.")
    }

    private func show(_ session: Session) throws {
        let permissions = try session.opening { try session.keychain.permissions() }
        if permissions.isEmpty { say("Nothing is allowed yet.") }
        for line in permissions.map(Permitting.line).sorted() { print(line) }
    }
}

struct DisallowProgram: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "program", abstract: "A program may no longer read an item.", shouldDisplay: false)

    @Argument(help: ArgumentHelp("The program, as vauban allow shows it.", valueName: "program"))
    var program: String

    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    func run() throws {
        try Permitting.change(program, selection, permits: false, try Session(user))
        say("No longer allowed.")
    }
}

struct AllowBuild: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "build",
        abstract: "Accepts new builds of programs in a folder without a question (weak: whatever can write there is one).")

    @Argument(help: ArgumentHelp("The folder.", valueName: "folder"), completion: .directory)
    var folder: String

    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        let change = PermissionChange(.buildsIn, subject: try Permitting.folder(folder), permits: true)
        try session.opening { try session.asking { try session.keychain.permit(change, waiting: $0) } }
        say("New builds there are accepted. Whatever can write there can pass for a program that is there.")
    }
}

struct DisallowBuild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "build", abstract: "New builds in a folder are asked about again.")

    @Argument(help: ArgumentHelp("The folder.", valueName: "folder"), completion: .directory)
    var folder: String

    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        let subject = try Permitting.allowedFolder(folder, session)
        let change = PermissionChange(.buildsIn, subject: subject, permits: false)
        try session.opening { try session.keychain.permit(change) }
        say("New builds there are asked about again.")
    }
}

struct AllowTerminalPrompts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "terminal-prompts",
        abstract: "Whether other programs may ask on the terminal that they run on, where they can read what you type.")

    @Argument(help: "on or off.")
    var state: Settings.Switch

    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        let device = try session.authentication.status().device
        try Passcode.requireSet(device)
        var settings = device.settings
        settings.allowsTerminalPrompts = state == .on
        let passcode = try Passcode.current(of: session)
        try session.authentication.configure(settings, passcode: passcode)
        say(state == .on ? "Allowed. Whatever controls such a terminal can read the passcode that you type there." : "No longer allowed.")
    }
}

/// What the verbs share.
enum Permitting {
    static func change(_ program: String, _ selection: ItemSelection, permits: Bool, _ session: Session) throws {
        try selection.requireSomething()
        let subject = try name(of: program)
        // An item is of one class; the first that has it is meant.
        for kind in selection.kinds {
            var query = ItemQuery(kind: kind, attributes: selection.attributes(of: kind))
            query.includesSynchronizable = true
            let change = PermissionChange(.reads, subject: subject, permits: permits, item: query)
            do {
                return try session.opening { try session.asking { try session.keychain.permit(change, waiting: $0) } }
            } catch let refusal as Refusal where refusal.reason == .itemNotFound && refusal.detail == nil {}
        }
        throw Refusal(.itemNotFound)
    }

    /// A name of the keychain's stays as it is; a path, or a command on the path, is looked up.
    private static func name(of program: String) throws -> String {
        if ["program:", "flatpak:", "snap:", "build:", "anything run by "].contains(where: program.hasBytePrefix) { return program }
        var path = program
        if !program.contains("/") {
            let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
            let places: [String] = folders.split(separator: ":").map { "\($0)/\(program)" }
            guard let found = places.first(where: { access($0, X_OK) == 0 }) else {
                throw ValidationError("There is no program \(SafeText.visible(program)) on your PATH; name it by its path.")
            }
            path = found
        }
        guard let application = ApplicationIdentifier.ofProgram(at: path) else {
            throw ValidationError("There is no program at \(SafeText.visible(path)).")
        }
        return application.text
    }

    static func folder(_ path: String) throws -> String {
        guard let real = realpath(path, nil) else { throw ValidationError("There is no folder \(SafeText.visible(path)).") }
        defer { free(real) }
        return String(cString: real)
    }

    /// A folder that is allowed, as it was named or as it is found now: it may be gone, or be a link elsewhere since.
    static func allowedFolder(_ path: String, _ session: Session) throws -> String {
        let allowed = try session.opening { try session.keychain.permissions() }.filter { $0.kind == .buildsIn }.map(\.subject)
        var plain = path
        while plain.utf8.count > 1, plain.hasByteSuffix("/") { plain = String(plain.unicodeScalars.dropLast()) }
        return allowed.containsBytes(of: plain) ? plain : try folder(path)
    }

    private static let shownMax = 160

    static func line(_ permission: Permission) -> String {
        // Both ends of what is long, and every sign that cannot be seen written out: a program chooses these words.
        let subject = SafeText.path(permission.subject, max: shownMax)
        let object = SafeText.path(permission.object, max: shownMax)
        return switch permission.kind {
        case .reads: "reads\t\(subject)\t\(object)"
        case .sameProgram: "same program\t\(subject)\t\(object)"
        case .buildsIn: "new builds\t\(subject)\tweak: whatever can write there passes for a program that is there"
        case .offers: "offers\t\(subject)\t\(object) of its items, which other programs may ask you for"
        }
    }
}
