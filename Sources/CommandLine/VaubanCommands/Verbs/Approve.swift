import ArgumentParser
import Glibc
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal

struct Approve: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Show prompts for your programs on this terminal.",
        discussion: """
            Without a command, runs until Ctrl-C: give it a terminal of its own. With a command, runs that command on an inner \
            terminal and uses this one for prompts, so that one terminal is enough, and exits with the status of the command.

            With --devices, shows the prompts of the other devices of your circle (vauban help sync) that run vauban approve --forward: \
            your laptop then shows the prompts of a server that cannot show them itself. You answer with the passcode of the server, \
            which is sealed to its enclave. --forward needs no terminal once the keychain is unlocked.

            Example:
              vauban approve
              vauban approve -- bash
              vauban approve --forward    on the server
              vauban approve --devices    on the laptop
            """)

    @Flag(help: "Show the prompts that other devices of your circle forward.")
    var devices = false

    @Flag(help: "Forward prompts that nothing here can show to the other devices of your circle.")
    var forward = false

    @OptionGroup var user: UserOptions

    @Argument(parsing: .postTerminator, help: "The command to run on an inner terminal.")
    var command: [String] = []

    func validate() throws {
        if devices, forward { throw ValidationError("Use --devices or --forward, not both; they are for different devices") }
        guard devices || forward else {
            if user.noInput || user.passcodeDescriptor != nil {
                throw ValidationError("--no-input and --passcode-fd require --devices or --forward")
            }
            return
        }
        if !command.isEmpty { throw ValidationError("--devices and --forward take no command") }
    }

    func run() throws {
        if forward { try PromptForwarder(user).run() }
        // Called for its side effects: it hides this process's memory, and creates the keychain's folder. The registration finds the
        // service itself.
        _ = try ServiceAccess.current()
        guard let terminal = Terminal.inForeground() else {
            throw Refusal(.interactionNotAllowed, "vauban approve needs a terminal and must run in its foreground")
        }
        if devices { try ForwardedPromptPresenter(user, on: terminal).run() }
        let place = "vauban approve on \(terminal.name)"
        if command.isEmpty { try approveAlone(on: terminal, place: place) }
        let surface = AlternateScreenSurface(terminal)
        let registration = try AgentRegistration(place: place, surface: surface)
        let agent = try registration.register()
        throw ExitCode(try TerminalProxy(command, on: terminal, surface: surface).run(agent, of: registration))
    }

    private func approveAlone(on terminal: Terminal, place: String) throws -> Never {
        let registration = try AgentRegistration(place: place, surface: TerminalSurface(terminal, showsOutcome: true))
        let agent = try registration.register()
        terminal.write("Prompts appear here (\(place)). Press Ctrl-C to stop.\n")
        try? CanaryMonitor.start { terminal.write("\(CanaryNotice.text($0))\n") }
        try registration.run(agent) { terminal.write("\($0)\n") }
    }
}
