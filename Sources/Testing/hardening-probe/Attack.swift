import CVaubanProbe
import Foundation
import Glibc

/// The attempts of a debugger or an attacker to read another process's secrets.
struct Attack {
    let pid: pid_t

    func run() {
        // If the memory map is unreadable too, any address will do: the kernel checks access before it uses the address.
        let address = mappedAddress() ?? 0x10000
        report("ptrace", vauban_probe_attach(pid))
        report("memory file", vauban_probe_read_memory(pid, address))
        report("process_vm_readv", vauban_probe_copy_memory(pid, address))
        report("pidfd_getfd", vauban_probe_take_descriptor(pid))
        report("perf samples", vauban_probe_sample(pid))
        report("perf breakpoint", vauban_probe_break(pid, address))
        for name in ["environ", "maps", "auxv", "exe", "cwd", "fd/2"] { report(name, opens(name)) }
    }

    private func report(_ what: String, _ result: Int32) {
        say("\(what): \(result == 0 ? "done" : "refused \(-result)")")
    }

    /// Opens a file and reads from it, since the kernel may check access only when reading.
    private func opens(_ name: String) -> Int32 {
        let number = open("/proc/\(pid)/\(name)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { return -errno }
        defer { close(number) }
        var information = stat()
        guard fstat(number, &information) == 0, information.st_mode & S_IFMT == S_IFREG, name.contains("fd/") == false else { return 0 }
        var byte: UInt8 = 0
        return read(number, &byte, 1) >= 0 ? 0 : -errno
    }

    private func mappedAddress() -> UInt64? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/maps", encoding: .utf8) else { return nil }
        return text.split(separator: "-").first.flatMap { UInt64($0, radix: 16) }
    }
}
