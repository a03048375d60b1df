import ArgumentParser
import Glibc
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanPlainText
import VaubanRefusal

struct SSHAgentVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ssh-agent",
        abstract: "Runs the agent for SSH in the foreground; vauban ssh enable has it run at each login.",
        discussion: """
            It offers the keys of vauban ssh at a socket that ssh, git and others find by SSH_AUTH_SOCK. Without --socket it takes the one \
            that systemd passes.

            Example:
              vauban ssh-agent --foreground --socket ~/.ssh/vauban.socket
              SSH_AUTH_SOCK=~/.ssh/vauban.socket ssh git@example.com
            """)

    @Flag(help: "Stay in the foreground, until Ctrl-C. There is no other way; it is said so that a script shows it.")
    var foreground = false

    @Option(help: ArgumentHelp("Listen here.", valueName: "path"))
    var socket: String?

    func run() throws {
        // The agent itself starts no program, so what it speaks to has to run before.
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

/// Programs that lie beside this one's own file, wherever links to it may lie.
enum OwnProgram {
    static func path(of name: String) throws(Refusal) -> String {
        guard let real = realpath("/proc/self/exe", nil) else {
            throw Refusal(.unavailable, "this program cannot find its own file; is /proc mounted?")
        }
        defer { free(real) }
        let path = "\(PathBytes.parts(of: String(cString: real))?.folder ?? "")/\(name)"
        guard access(path, X_OK) == 0 else { throw Refusal(.unavailable, "there is no \(path); install or build Vauban as a whole") }
        return path
    }
}
