import Glibc
internal import CVaubanLinux

package enum ProcessHardening {
    /// No core file, no tracing or memory access by another process of the same user, no new privileges. For rooms,
    /// before they read the first byte.
    package static func apply() throws(SystemFault) {
        try SystemFault.checkNegated(vauban_harden_process(), "harden the process")
        umask(0o077)
    }
}
