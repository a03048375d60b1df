import Glibc
import Testing
import VaubanAuthenticationClient
import VaubanLinuxHost

/// A terminal on which two prompts of one process overlap: it shows nothing that is typed until both are over.
@Suite struct QuietModeTests {
    private struct Terminal {
        // Held, since the terminal ends with it.
        let master: Descriptor
        let slave: Descriptor

        init() throws(SystemError) {
            // From <asm-generic/ioctls.h>, for which the Glibc module has no names: TIOCSPTLCK, TIOCGPTPEER.
            master = Descriptor(try SystemError.check(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), "open a new terminal"))
            var locked: Int32 = 0
            try SystemError.check(ioctl(master.number, 0x4004_5431, &locked), "unlock the new terminal")
            let number = ioctl(master.number, 0x5441, O_RDWR | O_NOCTTY | O_CLOEXEC)
            slave = Descriptor(try SystemError.check(number, "open the new terminal's other side"))
        }

        func flags() throws(SystemError) -> tcflag_t {
            var mode = termios()
            try SystemError.check(tcgetattr(slave.number, &mode), "look at the terminal")
            return mode.c_lflag
        }
    }

    @Test("The last of several prompts restores the terminal") func lastPromptRestoresTheTerminal() throws {
        let terminal = try Terminal()
        let before = try terminal.flags()
        #expect(before & tcflag_t(ECHO) != 0)
        for lastIsFirst in [false, true] {
            var first = QuietMode(terminal.slave)
            #expect(first != nil)
            #expect(try terminal.flags() & tcflag_t(ECHO | ICANON | ISIG) == 0)
            var second = QuietMode(terminal.slave)
            #expect(second != nil)
            if lastIsFirst { second = nil } else { first = nil }
            #expect(try terminal.flags() & tcflag_t(ECHO | ICANON | ISIG) == 0)
            (first, second) = (nil, nil)
            #expect(try terminal.flags() == before)
        }
    }
}
