import CVaubanLinux
import Glibc
import VaubanLinuxHost

/// A new pseudo-terminal with a command on it.
final class InnerTerminal {
    /// Our side: what is written here is what the command reads.
    let master: Descriptor
    let process: Descriptor
    private let pid: pid_t

    // From <asm-generic/ioctls.h>; the Glibc module has no names for these, nor for posix_openpt.
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

    /// Takes the command's end; to be called when `process` is readable. As a shell says it: 128 and more is a signal.
    func exitCode() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }
}
