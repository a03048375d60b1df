import Glibc
internal import CVaubanLinux

/// A protection that older kernels or tighter limits may lack. Tests disable some; no shipped program has an argument, file or variable for
/// that.
package enum HardeningFeature: String, CaseIterable, Sendable {
    case landlock
    case seccomp
    case memfdSecret = "memfd_secret"
    case mlock
}

/// The measures that need neither a library nor a table, so that every program can use them.
package enum ProcessHardening {
    /// Disables core dumps, tracing and memory access by other processes of the same user, and new privileges; raises the limit of open
    /// files. Rooms and the launcher call it before they read the first byte. Throws if a tracer is attached; this is checked last, when
    /// none can attach any more.
    package static func apply() throws(SystemError) {
        try SystemError.checkNegated(vauban_harden_process(), "harden the process")
        umask(0o077)
        DescriptorLimit.raiseWithinHardLimit()
        // The runtime's crash reporter is another program that would read this process's memory. With the default action a crash only ends
        // the process.
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
        try checkTracer("start")
    }

    /// Throws if a program traces this one: a tracer that attached before tracing was disabled stays attached.
    private static func checkTracer(_ attempt: String) throws(SystemError) {
        let tracer = try number(of: "TracerPid")
        guard tracer == 0 else { throw SystemError("\(attempt), because process \(tracer) traces this one", code: EPERM) }
    }

    /// Hides an application from the user's other programs and disables core dumps; on request also new privileges and code that it writes
    /// itself. Throws if a tracer is attached.
    package static func restrict(forbidsNewPrivileges: Bool, forbidsNewCode: Bool) throws(SystemError) {
        try SystemError.checkNegated(vauban_restrict_process(forbidsNewPrivileges, forbidsNewCode), "restrict the process")
        try checkTracer("restrict the process")
    }

    /// Hides the memory of a user's program from the user's other programs, for a program that briefly holds a passcode.
    package static func hide() throws(SystemError) {
        try SystemError.checkNegated(vauban_hide_process(), "hide the process's memory")
    }

    /// Returns a number from `/proc/self/status` by its name.
    package static func number(of name: String) throws(SystemError) -> Int {
        let lines = SmallFile.text(path: "/proc/self/status", max: 16384)?.split(separator: "\n") ?? []
        guard let line = lines.first(where: { $0.hasPrefix("\(name):") }),
            let number = line.dropFirst(name.count + 1).split(whereSeparator: { $0 == " " || $0 == "\t" }).first.flatMap({ Int($0) })
        else { throw SystemError("read \(name) in /proc/self/status; is /proc mounted?", code: ENOENT) }
        return number
    }
}
