import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanSecretBytes

/// Where questions appear while a command has the terminal: on the terminal's second screen, so that the command's own
/// picture comes back untouched. The relay asks here on its own thread, and passes nothing on meanwhile.
final class RelayStage: PromptSurface {
    private let terminal: Terminal
    private let surface: TerminalSurface
    private let hasScreen = Terminal.hasAlternateScreen

    init(_ terminal: Terminal) {
        self.terminal = terminal
        surface = TerminalSurface(terminal, tellsOutcome: false)
    }

    func ask(_ question: PromptQuestion, withdrawal: any Withdrawal) -> PromptResponse {
        let duty = Interruption.add { [terminal, hasScreen] in if hasScreen { terminal.write(Self.leave) } }
        terminal.write(hasScreen ? Self.enter : "\r\n")
        defer {
            terminal.write(hasScreen ? Self.leave : "\r")
            Interruption.remove(duty)
        }
        return surface.ask(question, withdrawal: withdrawal)
    }

    /// The command that asked shows by itself how it ended.
    func settled(_ outcome: PromptOutcome) {}

    private static let enter = "\u{1B}[?1049h\u{1B}[2J\u{1B}[H"
    private static let leave = "\u{1B}[?1049l"
}
