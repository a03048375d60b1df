import Glibc
import Synchronization
package import VaubanLinuxHost

/// A terminal mode without echo in which each key arrives at once, including those that would become signals, so that Ctrl-C is an answer.
/// A process has one terminal, on which its threads may prompt one after the other: the first prompt sets the mode, and the end of the last
/// restores the original mode. So does the process's exit (`exit`); a killed process cannot restore it.
package final class QuietMode {
    private struct Shared {
        var requests = 0
        var before = termios()
        /// The process that prompts; a forked child has nothing to restore.
        var process: pid_t = 0
        var isAtExit = false
    }

    private static let shared = Mutex(Shared())
    private let descriptor: Descriptor

    package init?(_ descriptor: Descriptor) {
        self.descriptor = descriptor
        let isQuiet = Self.shared.withLock { shared in
            if shared.requests == 0 {
                guard tcgetattr(descriptor.number, &shared.before) == 0 else { return false }
                var mode = shared.before
                mode.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
                guard tcsetattr(descriptor.number, TCSANOW, &mode) == 0 else { return false }
                shared.process = getpid()
                if !shared.isAtExit { shared.isAtExit = atexit { QuietMode.putRight() } == 0 }
            }
            // Discards what was typed before the prompt appeared.
            guard tcflush(descriptor.number, TCIFLUSH) == 0 else { return false }
            shared.requests += 1
            return true
        }
        guard isQuiet else { return nil }
    }

    /// In the background the terminal belongs to another process, which has set its own mode.
    private static func putRight() {
        shared.withLock { shared in
            guard shared.requests > 0, shared.process == getpid() else { return }
            let number = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
            guard number >= 0 else { return }
            let terminal = Descriptor(number)
            if tcgetpgrp(terminal.number) == getpgrp() { tcsetattr(terminal.number, TCSANOW, &shared.before) }
        }
    }

    deinit {
        Self.shared.withLock { shared in
            shared.requests -= 1
            if shared.requests == 0 { tcsetattr(descriptor.number, TCSADRAIN, &shared.before) }
        }
    }
}
