import ArgumentParser
import VaubanLinuxHost

/// The process of the command line, from its first instruction to its exit status.
package enum VaubanTool {
    /// The name under which this program was called.
    static let calledName: String? = CommandLine.arguments.first?.split(separator: "/").last.map(String.init)

    /// Runs the command that the arguments name and ends the process with its exit status.
    ///
    /// - Precondition: The process has one thread, so that a signal finds the terminal's mode restored from here on.
    package static func run() -> Never {
        Interruption.begin()
        // Passcodes and values may pass through this process, so its memory stays out of swap and core dumps. It does not use memfd_secret,
        // which would prevent hibernation for as long as a prompt waits.
        SecretArena.hold(without: [.memfdSecret])
        // Git and docker run a helper by its name, which is a link to this program.
        switch calledName {
        case GitCredential.programName: CommandEnd.run(GitCredential.self)
        case DockerCredential.programName: CommandEnd.run(DockerCredential.self)
        default: CommandEnd.run(VaubanCommand.self)
        }
    }
}
