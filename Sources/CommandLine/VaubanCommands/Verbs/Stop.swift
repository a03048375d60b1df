import ArgumentParser
import VaubanLinuxHost
import VaubanRefusal

struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop the service of user mode and erase its keys from memory.",
        discussion: """
            The next command starts it again and asks for the passcode.

            Example:
              vauban stop
            """)

    func run() throws {
        // Do not use ServiceAccess here: it would create the folder.
        let service = try Service.current()
        guard let home = service.home else {
            throw Refusal(.notAllowedHere, "Vauban is installed as a system service; to stop it: sudo systemctl stop 'vauban-*'")
        }
        say(try LauncherControl.stop(home: home) ? "Stopped." : "The service was not running.")
    }
}
