import Glibc
import VaubanLinuxHost

/// A change of a terminal's mode that is reverted when this object is released or when a signal ends the process.
final class TerminalMode {
    private let terminal: Terminal
    private let before: termios
    private let duty: Int

    /// Applies the change and discards input from before the prompt. Returns nil if the descriptor is not a terminal.
    init?(_ terminal: Terminal, dropsInput: Bool, _ change: (inout termios) -> Void) {
        var mode = termios()
        guard tcgetattr(terminal.descriptor.number, &mode) == 0 else { return nil }
        let before = mode
        change(&mode)
        self.terminal = terminal
        self.before = before
        duty = Interruption.add {
            var before = before
            tcsetattr(terminal.descriptor.number, TCSANOW, &before)
        }
        tcsetattr(terminal.descriptor.number, dropsInput ? TCSAFLUSH : TCSADRAIN, &mode)
    }

    deinit {
        var before = before
        tcsetattr(terminal.descriptor.number, TCSADRAIN, &before)
        Interruption.remove(duty)
    }
}

extension termios {
    /// Disables echo and delivers each key at once, including keys that otherwise cause signals, so that Ctrl-C is an answer.
    mutating func readSecretly() {
        c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
        c_iflag |= tcflag_t(ICRNL)
        c_iflag &= ~tcflag_t(INLCR | IGNCR)
        // Line feeds must work even if a caller has set the terminal to raw mode.
        c_oflag |= tcflag_t(OPOST | ONLCR)
        setMinimum(1, time: 0)
    }

    /// Delivers all input unchanged, for forwarding.
    mutating func passOn() { cfmakeraw(&self) }

    private mutating func setMinimum(_ bytes: UInt8, time: UInt8) {
        withUnsafeMutableBytes(of: &c_cc) { characters in
            characters[Int(VMIN)] = bytes
            characters[Int(VTIME)] = time
        }
    }
}
