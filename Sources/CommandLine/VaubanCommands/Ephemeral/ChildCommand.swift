import Glibc
import VaubanLinuxHost

/// A command that runs as a child of this process on the same terminal.
enum ChildCommand {
    /// `POSIX_SPAWN_SETSID`, which glibc declares only with its extensions.
    private static let ownSession: Int16 = 0x80

    /// Runs a command to its end and returns its exit code as a shell reports it. Signals sent to this process in the meantime are
    /// forwarded to the command; it receives those of the terminal directly.
    static func run(_ command: [String]) throws(SystemError) -> Int32 {
        let pid: pid_t
        do throws(SystemError) {
            pid = try Interruption.passOn { () throws(SystemError) in
                try spawn(command.first ?? "", command, input: nil, inItsOwnSession: false)
            }
        } catch {
            say("vauban: \(error)")
            return error.code == ENOENT ? 127 : 126
        }
        var ended = siginfo_t()
        while waitid(P_PID, id_t(pid), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        // Stop forwarding before the process ID can be reused.
        Interruption.passOnNoMore()
        return exitCode(of: waitForEnd(of: pid))
    }

    /// Waits for the end of a child, and returns its wait status: 0 if it exited with 0.
    @discardableResult
    static func waitForEnd(of pid: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        return status
    }

    /// Returns the exit code of a wait status as a shell reports it: 128 plus the number of a signal.
    static func exitCode(of status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    /// Starts a program, which is looked up in `PATH`, with the signal state that this process inherited. With `input`, the program reads
    /// it and its output is discarded; with `output`, the program writes there and shares this process's other streams.
    @discardableResult
    static func spawn(
        _ program: String, _ words: [String], input: Int32? = nil, output: Int32? = nil, inItsOwnSession: Bool = false
    ) throws(SystemError) -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | (inItsOwnSession ? ownSession : 0))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
            for stream in [STDOUT_FILENO, STDERR_FILENO] { posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0) }
        }
        if let output { posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var pid: pid_t = 0
        let problem = posix_spawnp(&pid, program, &actions, &attributes, &arguments, environ)
        guard problem == 0 else { throw SystemError("start \(SafeText.visible(program))", code: problem) }
        return pid
    }
}
