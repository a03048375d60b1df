import ArgumentParser
import Glibc
import VaubanAuthenticationClient
import VaubanLinuxHost

struct SecretServiceVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret-service",
        abstract: "Run the Secret Service in the foreground; vauban enable secret-service starts it at each login.",
        discussion: """
            Serves programs that store secrets with libsecret, secret-tool or Python's keyring, over the session bus \
            (org.freedesktop.secrets).

            Example:
              vauban secret-service --foreground
            """)

    @Flag(help: "Run in the foreground until Ctrl-C. This is the only mode; the flag documents it in scripts.")
    var foreground = false

    @Flag(help: "Let sandboxed apps use, without asking you, what other programs stored.")
    var share = false

    @Flag(help: "Serve KDE's programs too, in place of KWallet.")
    var kwallet = false

    func run() throws {
        // The translator starts no programs, so the service must run before it.
        _ = try AuthenticationClient(service: try ServiceAccess.current()).status()
        let program = try InstalledPrograms.path(of: "vauban-secret-service")
        let options = (share ? ["--share"] : []) + (kwallet ? ["--kwallet"] : [])
        var arguments: [UnsafeMutablePointer<CChar>?] = ([program] + options).map { strdup($0) } + [nil]
        Interruption.restoreSignals()
        execv(program, &arguments)
        let problem = errno
        for argument in arguments { free(argument) }
        throw SystemError("run \(program)", code: problem)
    }
}

struct Enable: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Let desktop programs and browsers use Vauban.",
        discussion: """
            Example:
              vauban enable secret-service
              vauban enable browser
            """,
        subcommands: [EnableSecretService.self, EnableBrowser.self])
}

struct Disable: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Undo vauban enable; items stay.",
        discussion: """
            Example:
              vauban disable secret-service
              vauban disable browser
            """,
        subcommands: [DisableSecretService.self, DisableBrowser.self])
}

struct EnableSecretService: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret-service",
        abstract: "Let the session bus start Vauban's Secret Service.",
        discussion: """
            Writes files for the bus, systemd and the Secret portal to ~/.local/share and ~/.config, and keeps GNOME Keyring and oo7, if \
            they are installed, from starting at the login: it masks their units and says so. If one of the files exists with other \
            content, nothing is written. The running service continues until you log out, and keeps its items.

            On a terminal, names the program that provides the service now and asks whether to bring its items over first, as vauban \
            import --from secret-service does; --import and --no-import decide this in advance. If that fails, nothing is enabled. \
            Exits 1 if some items could not be brought over.

            A Flatpak or Snap that may use the Secret Service reads what it stored itself; for anything else it asks you once. \
            With --share it reads everything, as with GNOME's keyring.

            Where KWallet is installed, KDE's programs use Vauban too; --kwallet or --no-kwallet decides it otherwise.

            Example:
              vauban enable secret-service
              vauban enable secret-service --import --no-input
            """)

    @Flag(help: "Let sandboxed apps use, without asking you, what other programs stored.")
    var share = false

    @Flag(inversion: .prefixedNo, help: "Serve KDE's programs too, in place of KWallet (default: if KWallet is installed).")
    var kwallet: Bool?

    @Flag(
        name: .customLong("import"), inversion: .prefixedNo,
        help: "Bring over the items of the program that provides the service now (default: ask on a terminal, else no).")
    var bringsItems: Bool?

    @OptionGroup var user: UserOptions

    func run() throws {
        // Throws if nothing is set up, since programs would lose the provider that they have. Creates the home that VAUBAN_HOME names.
        _ = try ServiceAccess.current()
        let enabling = try SecretServiceEnabling.current(isShared: share, hasWallets: kwallet)
        try enabling.check()
        var move = ProviderMove(hasWallets: enabling.hasWallets, wanted: bringsItems, user: user)
        let outcome: ProviderMove.Outcome
        do {
            outcome = try move.run()
        } catch {
            let stays = move.hasMoved ? " What was brought over until now stays in Vauban, too." : ""
            say("The Secret Service was not enabled.\(stays) Run this again, or with --no-import.")
            throw error
        }
        try enabling.enable(outcome)
        if outcome == .part { throw ExitCode(1) }
    }
}

struct DisableSecretService: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret-service",
        abstract: "Remove the files of vauban enable secret-service; items stay.",
        discussion: """
            Example:
              vauban disable secret-service
            """)

    func run() throws { try SecretServiceEnabling.disable() }
}
