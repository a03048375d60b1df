import ArgumentParser
import Glibc
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanPlainText
import VaubanRefusal

struct SSHAgentVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ssh-agent",
        abstract: "Run the SSH agent in the foreground; vauban ssh enable starts it at each login.",
        discussion: """
            Offers the keys of vauban ssh to ssh, git and other programs at the socket in SSH_AUTH_SOCK. Without --socket, uses the \
            socket that systemd passes. With --key, offers only the named keys, for one project; a name can be a fingerprint. With \
            --upstream, also offers the keys of another agent, such as those of security keys and smart cards. Exits 44 if there is no \
            such key or socket.

            Example:
              vauban ssh-agent --foreground --socket ~/.ssh/vauban.socket
              vauban ssh-agent --foreground --socket ~/.ssh/shop.socket --key shop-deploy
              vauban ssh-agent --foreground --socket ~/.ssh/vauban.socket --upstream "$SSH_AUTH_SOCK"
              SSH_AUTH_SOCK=~/.ssh/vauban.socket ssh git@example.com
            """)

    @Flag(help: "Run in the foreground until Ctrl-C. This is the only mode; the flag documents it in scripts.")
    var foreground = false

    @Option(help: ArgumentHelp("Listen at this path.", valueName: "path"))
    var socket: String?

    @Option(name: .customLong("key"), help: ArgumentHelp("Offer this key and no others; may be repeated.", valueName: "name"))
    var keys: [String] = []

    @Option(help: ArgumentHelp("Pass requests for other keys on to the agent at this socket.", valueName: "path"))
    var upstream: String?

    func validate() throws {
        // systemd passes its socket by this variable.
        guard socket.map({ !$0.isEmpty }) ?? (getenv("LISTEN_FDS") != nil) else {
            throw ValidationError("Name the socket to listen at: vauban ssh-agent --foreground --socket PATH")
        }
        if keys.contains("") { throw ValidationError("--key needs the name of a key") }
        if let upstream, upstream == socket { throw ValidationError("--upstream must be the socket of another agent, not --socket") }
    }

    func run() throws {
        // The agent starts no programs, so the service must run before it.
        let client = try ServiceClient(CommandUser(mayBePrompted: false))
        let isReached = try reaches(client)
        try SSHAgentCheck(keys: isReached ? keys : [], upstream: upstream).run(client)
        let program = try InstalledPrograms.path(of: "vauban-ssh-agent")
        let words =
            [program] + (socket.map { ["--socket", $0] } ?? []) + (upstream.map { ["--upstream", $0] } ?? [])
            + keys.flatMap { ["--key", $0] }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        Interruption.restoreSignals()
        execv(program, &arguments)
        let problem = errno
        for argument in arguments { free(argument) }
        throw SystemError("run \(program)", code: problem)
    }

    /// Returns whether the service answers. An agent at systemd's socket starts without it, and finds it later: systemd gives up on a
    /// socket, until the next login, if what it starts ends again and again.
    private func reaches(_ client: ServiceClient) throws(Refusal) -> Bool {
        do throws(Refusal) {
            _ = try client.authentication.status()
            return true
        } catch {
            guard socket == nil else { throw error }
            say("The agent starts, and offers stored keys when they can be read: \(error.message)")
            return false
        }
    }
}

/// The programs that are installed beside this one, found through the executable's real path.
enum InstalledPrograms {
    static func path(of name: String) throws(Refusal) -> String {
        guard let real = realpath("/proc/self/exe", nil) else {
            throw Refusal(.unavailable, "This program cannot find its own file; check that /proc is mounted")
        }
        defer { free(real) }
        let path = "\(PathBytes.parts(of: String(cString: real))?.folder ?? "")/\(name)"
        guard access(path, X_OK) == 0 else { throw Refusal(.unavailable, "\(path) is missing; install or build all of Vauban") }
        return path
    }
}
