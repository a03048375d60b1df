import ArgumentParser
import Glibc
import VaubanLinuxHost
import VaubanRefusal

struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs the service of user mode in the foreground, until Ctrl-C.",
        discussion: """
            Not needed as a rule: any verb starts the service. It is for seeing its log, and for a supervisor.

            Example:
              vauban serve
            """)

    func run() throws {
        let service = try ServiceAccess.current()
        guard let home = service.home else {
            throw Refusal(.notAllowedHere, "Vauban is installed here as a system service, which the system starts")
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
