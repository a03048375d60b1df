import ArgumentParser
import Glibc
import VaubanLinuxHost

/// The program vauban-ats, which `vauban ats` executes.
package enum ATSProgram {
    package static func main() -> Never {
        BlockingResult.of { await ATSCommand.main() }
        exit(0)
    }
}

/// `vauban ats`: tests transport security against real servers.
struct ATSCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vauban ats", abstract: "Try App Transport Security on a server.",
        discussion: "Exits 0 if the server is allowed, 1 if a rule refuses it, and 2 if it cannot be reached.",
        subcommands: [LoadCommand.self, DiagnoseCommand.self])
}
