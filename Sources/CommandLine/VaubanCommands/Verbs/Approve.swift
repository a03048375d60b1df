import ArgumentParser
import Glibc
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanRefusal

struct Approve: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Show prompts for your programs on this terminal.",
        discussion: """
            Without a command, runs until Ctrl-C: give it a terminal of its own. With a command, runs that command on an inner \
            terminal and uses this one for prompts, so that one terminal is enough, and exits with the status of the command.

            Example:
              vauban approve
              vauban approve -- bash
            """)

    @Argument(parsing: .postTerminator, help: "The command to run on an inner terminal.")
    var command: [String] = []

    func run() throws {
        let service = try ServiceAccess.current()
        guard let terminal = Terminal.inForeground() else {
            throw Refusal(.interactionNotAllowed, "vauban approve needs a terminal and must run in its foreground")
        }
        let place = "vauban approve on \(terminal.name)"
        if command.isEmpty {
            try approveAlone(place, terminal: terminal) { surface throws(Refusal) in
                try PromptAgent.forEveryCaller(of: service, place: place, surface: surface)
            }
        } else {
            let stage = RelayStage(terminal)
            let agent = try PromptAgent.forEveryCaller(of: service, place: place, surface: stage)
            let relay = try TerminalRelay(command, on: terminal, stage: stage)
            throw ExitCode(try relay.run(agent))
        }
    }

    /// Serves until a signal ends the process. Reconnects when the service restarts; throws if it cannot.
    private func approveAlone(_ place: String, terminal: Terminal, register: (TerminalSurface) throws(Refusal) -> PromptAgent) throws {
        let surface = TerminalSurface(terminal, tellsOutcome: true)
        var agent = try register(surface)
        terminal.write("Prompts appear here (\(place)). Press Ctrl-C to stop.\n")
        try? CanaryWatch.start { terminal.write("\(CanaryNotice.text($0))\n") }
        while true {
            let ended = agent.run()
            guard ended.reason == .unavailable, let again = try? register(surface) else { throw ended }
            agent = again
        }
    }
}
