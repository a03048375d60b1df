import ArgumentParser
import Glibc
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanPlainText
import VaubanRefusal

struct SSHAgentVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ssh-agent",
        abstract: "Run the SSH agent in the foreground; vauban ssh enable starts it at each login.",
        discussion: """
            Offers the keys of vauban ssh to ssh, git and other programs at the socket in SSH_AUTH_SOCK. Without --socket, uses the \
            socket that systemd passes.

            Example:
              vauban ssh-agent --foreground --socket ~/.ssh/vauban.socket
              SSH_AUTH_SOCK=~/.ssh/vauban.socket ssh git@example.com
            """)

    @Flag(help: "Run in the foreground until Ctrl-C. This is the only mode; the flag documents it in scripts.")
    var foreground = false

    @Option(help: ArgumentHelp("Listen at this path.", valueName: "path"))
    var socket: String?

    func run() throws {
        // The agent starts no programs, so the service must run before it.
        _ = try AuthenticationClient(service: try ServiceAccess.current()).status()
        let program = try OwnProgram.path(of: "vauban-ssh-agent")
        let words = [program] + (socket.map { ["--socket", $0] } ?? [])
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        Interruption.restoreSignals()
        execv(program, &arguments)
        let problem = errno
        for argument in arguments { free(argument) }
        throw SystemError("run \(program)", code: problem)
    }
}

/// The programs that are installed beside this one, found through the executable's real path.
enum OwnProgram {
    static func path(of name: String) throws(Refusal) -> String {
        guard let real = realpath("/proc/self/exe", nil) else {
            throw Refusal(.unavailable, "this program cannot find its own file; check that /proc is mounted")
        }
        defer { free(real) }
        let path = "\(PathBytes.parts(of: String(cString: real))?.folder ?? "")/\(name)"
        guard access(path, X_OK) == 0 else { throw Refusal(.unavailable, "\(path) is missing; install or build all of Vauban") }
        return path
    }
}
