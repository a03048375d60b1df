import ArgumentParser
import VaubanLinuxHost
import VaubanRefusal

struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stops the service of user mode. Its keys leave memory.",
        discussion: """
            The next verb starts it again, and then it asks for the passcode.

            Example:
              vauban stop
            """)

    func run() throws {
        // Not through ServiceAccess: stopping must not make a home that is not there.
        let service = try Service.current()
        guard let home = service.home else {
            throw Refusal(.notAllowedHere, "Vauban is installed here as a system service: sudo systemctl stop 'vauban-*'")
        }
        say(try LauncherControl.stop(home: home) ? "Stopped." : "It was not running.")
    }
}
