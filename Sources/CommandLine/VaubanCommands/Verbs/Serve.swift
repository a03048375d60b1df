import ArgumentParser
import Glibc
import VaubanLinuxHost
import VaubanRefusal

struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the service of user mode in the foreground until Ctrl-C.",
        discussion: """
            Usually not needed, since every command starts the service. Use it to watch the log, or under a supervisor.

            Example:
              vauban serve
            """)

    func run() throws {
        let service = try ServiceAccess.current()
        guard let home = service.home else {
            throw Refusal(.notAllowedHere, "Vauban is installed as a system service, which the system starts")
        }
        let launcher = try ServiceFile.launcher(home: home) ?? ServiceAccess.launcherPath()
        let words: [String] = [launcher, "--home", home, "--sockets", service.sockets]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        Interruption.restoreSignals()
        execv(launcher, &arguments)
        let problem = errno
        for argument in arguments { free(argument) }
        throw SystemError("run \(launcher)", code: problem)
    }
}
