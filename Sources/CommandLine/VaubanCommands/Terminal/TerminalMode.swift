import Glibc
import VaubanLinuxHost

/// A change of a terminal's mode that is taken back when its owner lets go, and when the process ends by a signal.
final class TerminalMode {
    private let terminal: Terminal
    private let before: termios
    private let duty: Int

    /// Applies the change, dropping what was typed before the user was asked. Nil when this is no terminal.
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
    /// No echo, and each key at once: also the ones that would otherwise become signals, so that Ctrl-C is an answer.
    mutating func readSecretly() {
        c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
        c_iflag |= tcflag_t(ICRNL)
        c_iflag &= ~tcflag_t(INLCR | IGNCR)
        // The prompt's own line ends must work also where a relay had made the terminal raw.
        c_oflag |= tcflag_t(OPOST | ONLCR)
        setMinimum(1, time: 0)
    }

    /// Everything as it comes, for passing on.
    mutating func passOn() { cfmakeraw(&self) }

    private mutating func setMinimum(_ bytes: UInt8, time: UInt8) {
        withUnsafeMutableBytes(of: &c_cc) { characters in
            characters[Int(VMIN)] = bytes
            characters[Int(VTIME)] = time
        }
    }
}
