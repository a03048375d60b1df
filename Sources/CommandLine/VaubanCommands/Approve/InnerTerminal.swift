import CVaubanLinux
import Glibc
import VaubanLinuxHost

/// A new pseudo-terminal with a command running on it.
final class InnerTerminal {
    /// Our side: the command reads what is written here.
    let master: Descriptor
    let process: Descriptor
    private let pid: pid_t

    // Constants of <asm-generic/ioctls.h>; the Glibc module does not import them, nor posix_openpt.
    private static let unlockTerminal: UInt = 0x4004_5431  // TIOCSPTLCK
    private static let openPeer: UInt = 0x5441  // TIOCGPTPEER

    /// Starts the command as the leader of a session on the new terminal, with this process's environment.
    init(_ command: [String], size: winsize?) throws(SystemError) {
        master = Descriptor(try SystemError.check(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), "open a new terminal"))
        var locked: Int32 = 0
        try SystemError.check(ioctl(master.number, Self.unlockTerminal, &locked), "unlock the new terminal")
        let slave = Descriptor(
            try SystemError.check(ioctl(master.number, Self.openPeer, O_RDWR | O_NOCTTY | O_CLOEXEC), "open the new terminal's other side"))
        if var size { _ = ioctl(slave.number, UInt(TIOCSWINSZ), &size) }
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        pid = try SystemError.checkNegated(vauban_spawn_on_terminal(&arguments, slave.number), "start \(command.first ?? "")")
        process = Descriptor(try SystemError.checkNegated(vauban_pidfd_open(pid), "hold the command"))
        _ = fcntl(master.number, F_SETFL, O_NONBLOCK)
    }

    func resize(_ size: winsize) {
        var size = size
        _ = ioctl(master.number, UInt(TIOCSWINSZ), &size)
    }

    /// Reaps the command and returns its exit code as a shell reports it: 128 plus the number of a signal. Call this when `process` is
    /// readable.
    func exitCode() -> Int32 { ChildCommand.exitCode(of: ChildCommand.waitForEnd(of: pid)) }
}
