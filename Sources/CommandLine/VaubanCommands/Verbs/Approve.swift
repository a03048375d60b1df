import ArgumentParser
import Glibc
import VaubanAuthenticationClient
import VaubanRefusal

struct Approve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lets programs ask you on this terminal.",
        discussion: """
            Alone it stays until Ctrl-C: run it in a terminal of its own. With a command it runs that command on an inner \
            terminal and keeps this one for questions, so that one terminal is enough; it ends as the command ends.

            Example:
              vauban approve
              vauban approve -- bash
            """)

    @Argument(parsing: .postTerminator, help: "A command to run on an inner terminal.")
    var command: [String] = []

    func run() throws {
        let service = try ServiceAccess.current()
        guard let terminal = Terminal.inForeground() else {
            throw Refusal(.interactionNotAllowed, "an approver needs a terminal, in its foreground")
        }
        let place = "vauban approve on \(terminal.name)"
        if command.isEmpty {
            try approveAlone(place, terminal) { surface throws(Refusal) in
                try PromptAgent.forEveryCaller(of: service, place: place, surface: surface)
            }
        } else {
            let stage = RelayStage(terminal)
            let agent = try PromptAgent.forEveryCaller(of: service, place: place, surface: stage)
            let relay = try TerminalRelay(command, on: terminal, stage: stage)
            throw ExitCode(try relay.run(agent))
        }
    }

    /// Serves until a signal ends the process. Rooms that restart are joined again; what cannot be joined ends it.
    private func approveAlone(_ place: String, _ terminal: Terminal, _ register: (TerminalSurface) throws(Refusal) -> PromptAgent) throws {
        let surface = TerminalSurface(terminal, tellsOutcome: true)
        var agent = try register(surface)
        terminal.write("Programs can ask you here (\(place)). Ctrl-C ends this.\n")
        while true {
            let ended = agent.run()
            guard ended.reason == .unavailable, let again = try? register(surface) else { throw ended }
            agent = again
        }
    }
}
