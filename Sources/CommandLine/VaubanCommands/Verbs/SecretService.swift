import ArgumentParser
import Glibc
import VaubanAuthenticationClient
import VaubanLinuxHost

struct SecretServiceVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret-service",
        abstract: "Runs the Secret Service in the foreground; vauban enable secret-service has the session bus start it.",
        discussion: """
            It serves programs that keep their secrets by libsecret, secret-tool or Python's keyring, over the session bus \
            (org.freedesktop.secrets).

            Example:
              vauban secret-service --foreground
            """)

    @Flag(help: "Stay in the foreground, until Ctrl-C. There is no other way; the flag is for scripts that show it.")
    var foreground = false

    @Flag(help: "Let sandboxed apps use what other programs stored without asking you.")
    var share = false

    func run() throws {
        // The service starts no program, so the rooms have to run before.
        _ = try AuthenticationClient(service: try ServiceAccess.current()).status()
        let program = try OwnProgram.path(of: "vauban-secret-service")
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), share ? strdup("--share") : nil, nil]
        Interruption.restoreSignals()
        execv(program, &arguments)
        let problem = errno
        for argument in arguments { free(argument) }
        throw SystemError("run \(program)", code: problem)
    }
}

struct Enable: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Has programs of your desktop find Vauban.",
        discussion: """
            Example:
              vauban enable secret-service
            """,
        subcommands: [EnableSecretService.self])
}

struct Disable: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Takes back what vauban enable did; what is kept stays.",
        discussion: """
            Example:
              vauban disable secret-service
            """,
        subcommands: [DisableSecretService.self])
}

struct EnableSecretService: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret-service",
        abstract: "Has the session bus start Vauban's Secret Service.",
        discussion: """
            It writes files below ~/.local/share/dbus-1 and ~/.config for the bus, for systemd, and against the start of GNOME's keyring \
            where that is installed. Where one of them has other content nothing is written. The service that runs now goes on \
            until you log out, and keeps its items.

            A Flatpak or Snap that may use the Secret Service reads what it stored itself; for anything else it asks you once. \
            With --share it reads everything, as with GNOME's keyring.

            Example:
              vauban enable secret-service
            """)

    @Flag(help: "Let sandboxed apps use what other programs stored without asking you.")
    var share = false

    func run() throws { try SecretServiceEnabling.current(isShared: share).enable() }
}

struct DisableSecretService: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret-service",
        abstract: "Removes what vauban enable secret-service wrote; the items stay.",
        discussion: """
            Example:
              vauban disable secret-service
            """)

    func run() throws { try SecretServiceEnabling.installed().disable() }
}
