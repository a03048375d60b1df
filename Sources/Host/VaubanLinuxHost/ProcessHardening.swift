import Glibc
internal import CVaubanLinux

/// A protection that older kernels or tighter limits may lack. Tests switch them off to see what then happens; no shipped
/// program has an argument, a file or a variable for it.
package enum HardeningFeature: String, CaseIterable, Sendable {
    case landlock
    case seccomp
    case memfdSecret = "memfd_secret"
    case mlock
}

/// The measures that need no library and no table, so that every program can have them.
package enum ProcessHardening {
    /// No core file, no tracing or memory access by another process of the same user, no new privileges, and as many files as a
    /// full endpoint takes. For rooms and the launcher, before they read the first byte. Refused under a tracer: it is looked for when none
    /// can attach any more.
    package static func apply() throws(SystemError) {
        try SystemError.checkNegated(vauban_harden_process(), "harden the process")
        umask(0o077)
        DescriptorLimit.raise()
        // The runtime tells of a crash by another program that reads this one's memory; here a crash is its end and nothing more.
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
        let tracer = try number(of: "TracerPid")
        guard tracer == 0 else { throw SystemError("start, because process \(tracer) traces this one", code: EPERM) }
    }

    /// For a program of the user's that holds a passcode for a moment: another program of the user cannot read it.
    package static func hide() throws(SystemError) {
        try SystemError.checkNegated(vauban_hide_process(), "hide the process's memory")
    }

    /// A number that the kernel says about this process, by its name in `/proc/self/status`.
    package static func number(of name: String) throws(SystemError) -> Int {
        let lines = SmallFile.text(path: "/proc/self/status", max: 16384)?.split(separator: "\n") ?? []
        guard let line = lines.first(where: { $0.hasPrefix("\(name):") }),
            let number = line.dropFirst(name.count + 1).split(whereSeparator: { $0 == " " || $0 == "\t" }).first.flatMap({ Int($0) })
        else { throw SystemError("read \(name) in /proc/self/status; is /proc mounted?", code: ENOENT) }
        return number
    }
}
