import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanSecretBytes
import VaubanUserModel

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

    func ask(_ request: PromptRequest, withdrawal: any Withdrawal) -> PromptResponse {
        let duty = Interruption.add { [terminal, hasScreen] in if hasScreen { terminal.write(Self.leave) } }
        terminal.write(hasScreen ? Self.enter : "\r\n")
        defer {
            terminal.write(hasScreen ? Self.leave : "\r")
            Interruption.remove(duty)
        }
        return surface.ask(request, withdrawal: withdrawal)
    }

    /// The command that asked shows by itself how it ended.
    func resolved(_ outcome: PromptOutcome) {}

    /// The command may have left a sequence half written, or margins, colours and letters in which a question cannot be
    /// read: what it began is cancelled, and what it set is reset on this screen. The cursor and its colours come back
    /// with the other one.
    private static let enter = "\u{18}\u{1B}[?1049h\u{1B}[!p\u{1B}[r\u{1B}[0m\u{1B}(B\u{0F}\u{1B}[2J\u{1B}[H"
    private static let leave = "\u{1B}[?1049l"
}
