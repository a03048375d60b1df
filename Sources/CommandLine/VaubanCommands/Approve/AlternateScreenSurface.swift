import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanPasscode
import VaubanSecretBytes
import VaubanUserModel

/// The place of prompts while a command uses the terminal: the terminal's alternate screen, so that the command's own screen comes back
/// unchanged. The terminal proxy prompts on its own thread and forwards nothing in the meantime.
final class AlternateScreenSurface: PromptSurface {
    private let terminal: Terminal
    private let surface: TerminalSurface
    private let hasScreen = Terminal.hasAlternateScreen

    init(_ terminal: Terminal) {
        self.terminal = terminal
        surface = TerminalSurface(terminal, showsOutcome: false)
    }

    func ask(_ request: PromptRequest, withdrawal: any Withdrawal) -> PromptResponse {
        onScreen { surface.ask(request, withdrawal: withdrawal) }
    }

    func show(_ recoveryKey: borrowing RecoveryKey) -> Bool { onScreen { surface.show(recoveryKey) } }

    private func onScreen<Value: ~Copyable>(_ body: () -> Value) -> Value {
        let duty = Interruption.add { [terminal, hasScreen] in if hasScreen { terminal.write(Self.leave) } }
        terminal.write(hasScreen ? Self.enter : "\r\n")
        defer {
            terminal.write(hasScreen ? Self.leave : "\r")
            Interruption.remove(duty)
        }
        return body()
    }

    /// The requesting command itself reports the outcome of the prompt.
    func handleOutcome(_ outcome: PromptOutcome) {}

    /// Switches to the alternate screen. The command may have left an incomplete escape sequence, or margins, colors and character sets in
    /// which a prompt is unreadable: this cancels the sequence and resets the settings on this screen. The cursor and its colors are
    /// restored with the main screen.
    private static let enter = "\u{18}\u{1B}[?1049h\u{1B}[!p\u{1B}[r\u{1B}[0m\u{1B}(B\u{0F}\u{1B}[2J\u{1B}[H"
    private static let leave = "\u{1B}[?1049l"
}
