// The protections that the kernel enforces, read from its own files. Vauban can set none of them.

import Glibc
import VaubanLinuxHost

/// Reads the kernel's settings below a root folder, which is `/` except in tests.
package struct KernelChecks {
    private let root: String

    package init(root: String = "") { self.root = root }

    package func run() -> [IntegrityCheck] {
        [lockdown, modules, kexec, tracing, namespaces, secureBoot, hardLinks, probes, cores]
    }

    /// Returns the content of a small file without white space at its ends; nil if it is missing or cannot be read.
    private func text(_ path: String) -> String? {
        guard let text = SmallFile.text(path: root + path, max: 4096) else { return nil }
        return String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    private func exists(_ path: String) -> Bool { access(root + path, F_OK) == 0 }

    /// The word in brackets in `none [integrity] confidentiality`.
    private var lockdownMode: String? {
        guard let modes = text(Self.lockdownPath), let start = modes.firstIndex(of: "[") else { return nil }
        return String(modes[modes.index(after: start)...].prefix { $0 != "]" })
    }

    private static let lockdownPath = "/sys/kernel/security/lockdown"

    private var lockdown: IntegrityCheck {
        let can = "change the running kernel through devices, kexec, hibernation images and unsigned modules"
        let measure = "boot with lockdown=integrity, or with Secure Boot where the distribution ties lockdown to it"
        guard let mode = lockdownMode else {
            return IntegrityCheck(.kernel, "lockdown", is: .notMet, by: "\(Self.lockdownPath) is missing", root: can, measure: measure)
        }
        guard mode != "none" else {
            return IntegrityCheck(.kernel, "lockdown", is: .notMet, by: "none (\(Self.lockdownPath))", root: can, measure: measure)
        }
        return IntegrityCheck(.kernel, "lockdown", is: .met, by: "\(mode) (\(Self.lockdownPath)); it cannot be lowered until the next boot")
    }

    private var modules: IntegrityCheck {
        let name = "signed modules"
        guard exists("/proc/modules") else {
            return IntegrityCheck(.kernel, name, is: .met, by: "this kernel loads no modules (/proc/modules is missing)")
        }
        if text("/proc/sys/kernel/modules_disabled") == "1" {
            return IntegrityCheck(.kernel, name, is: .met, by: "no more modules until the next boot (kernel.modules_disabled)")
        }
        if text("/sys/module/module/parameters/sig_enforce") == "Y" {
            return IntegrityCheck(.kernel, name, is: .met, by: "unsigned modules are refused (module.sig_enforce); it cannot be lowered")
        }
        if let mode = lockdownMode, mode != "none" {
            return IntegrityCheck(.kernel, name, is: .met, by: "unsigned modules are refused (lockdown \(mode))")
        }
        return IntegrityCheck(
            .kernel, name, is: .notMet, by: "neither module.sig_enforce nor lockdown is in force", root: "load any code into the kernel",
            measure: "boot with module.sig_enforce=1, or set kernel.modules_disabled=1 once everything is loaded")
    }

    private var kexec: IntegrityCheck {
        switch text("/proc/sys/kernel/kexec_load_disabled") {
        case "1": IntegrityCheck(.kernel, "no other kernel", is: .met, by: "kernel.kexec_load_disabled=1 until the next boot")
        case nil:
            IntegrityCheck(.kernel, "no other kernel", is: .met, by: "this kernel has no kexec (kernel.kexec_load_disabled is missing)")
        default:
            IntegrityCheck(
                .kernel, "no other kernel", is: .notMet, by: "kernel.kexec_load_disabled=0", root: "start another kernel without a reboot",
                measure: "sysctl kernel.kexec_load_disabled=1, or lockdown")
        }
    }

    private var tracing: IntegrityCheck {
        let name = "no tracing"
        let path = "kernel.yama.ptrace_scope"
        let measure = "sysctl \(path)=2, or 3, which lasts until the next boot; for one program: vauban protect"
        switch text("/proc/sys/kernel/yama/ptrace_scope") {
        case "3": return IntegrityCheck(.kernel, name, is: .met, by: "\(path)=3: no process can trace another until the next boot")
        case "2":
            return IntegrityCheck(
                .kernel, name, is: .met, by: "\(path)=2: only with CAP_SYS_PTRACE", root: "trace any program", measure: "\(path)=3")
        case "1":
            return IntegrityCheck(
                .kernel, name, is: .notMet, by: "\(path)=1: a program can trace the programs that it starts", measure: measure)
        case nil:
            return IntegrityCheck(
                .kernel, name, is: .notMet, by: "this kernel has no Yama: a user's programs can trace each other", measure: measure)
        default:
            return IntegrityCheck(.kernel, name, is: .notMet, by: "\(path)=0: a user's programs can trace each other", measure: measure)
        }
    }

    /// In its own user namespace, a program can make the kernel report a process that shares its memory as another program (A131).
    private var namespaces: IntegrityCheck {
        let name = "no user namespaces"
        guard exists("/proc/self/ns/user") else {
            return IntegrityCheck(.kernel, name, is: .met, by: "this kernel has none (/proc/self/ns/user is missing)")
        }
        for (path, sign) in [
            ("/proc/sys/user/max_user_namespaces", "user.max_user_namespaces"),
            ("/proc/sys/kernel/unprivileged_userns_clone", "kernel.unprivileged_userns_clone"),
        ]
        where text(path) == "0" {
            return IntegrityCheck(.kernel, name, is: .met, by: "\(sign)=0: a user's programs can make none")
        }
        let measure =
            "sysctl user.max_user_namespaces=0, which ends Flatpak and the sandboxes of browsers; Ubuntu has "
            + "kernel.apparmor_restrict_unprivileged_userns=1, which lets some programs"
        if text("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" {
            return IntegrityCheck(
                .kernel, name, is: .met, by: "kernel.apparmor_restrict_unprivileged_userns=1: only programs whose profile permits it")
        }
        return IntegrityCheck(
            .kernel, name, is: .notMet, by: "a user's programs can make them, and so be taken for other programs (A131)", measure: measure)
    }

    /// The variable has four bytes of attributes, then its value.
    private var secureBoot: IntegrityCheck {
        let path = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
        guard exists("/sys/firmware/efi") else {
            return IntegrityCheck(.kernel, "Secure Boot", is: .unknown, by: "this machine was not started by EFI")
        }
        guard let bytes = SmallFile.bytes(path: root + path, max: 64), bytes.count == 5 else {
            return IntegrityCheck(.kernel, "Secure Boot", is: .unknown, by: "its EFI variable cannot be read")
        }
        if bytes[4] == 1 { return IntegrityCheck(.kernel, "Secure Boot", is: .met, by: "the firmware says that it is on") }
        return IntegrityCheck(
            .kernel, "Secure Boot", is: .notMet, by: "the firmware says that it is off", root: "install another boot loader or kernel",
            measure: "switch it on in the firmware, whose setup has a password")
    }

    private var hardLinks: IntegrityCheck {
        switch text("/proc/sys/fs/protected_hardlinks") {
        case "1": IntegrityCheck(.kernel, "no foreign links", is: .met, by: "fs.protected_hardlinks=1")
        case nil: IntegrityCheck(.kernel, "no foreign links", is: .unknown, by: "fs.protected_hardlinks cannot be read")
        default:
            IntegrityCheck(
                .kernel, "no foreign links", is: .notMet, by: "fs.protected_hardlinks=0: users can link to others' files",
                measure: "sysctl fs.protected_hardlinks=1")
        }
    }

    private var probes: IntegrityCheck {
        let level = text("/proc/sys/kernel/perf_event_paranoid").flatMap { Int($0) }
        let bpf = text("/proc/sys/kernel/unprivileged_bpf_disabled")
        let found = "kernel.perf_event_paranoid=\(level.map { "\($0)" } ?? "missing"), unprivileged_bpf_disabled=\(bpf ?? "missing")"
        let isMet = (level ?? 2) >= 2 && bpf != "0"
        return IntegrityCheck(
            .kernel, "no probes", is: isMet ? .met : .notMet, by: found,
            root: lockdownMode == "confidentiality" ? nil : "put probes into every program and the kernel",
            measure: lockdownMode == "confidentiality" ? nil : "lockdown=confidentiality")
    }

    private var cores: IntegrityCheck {
        switch text("/proc/sys/fs/suid_dumpable") {
        case "1":
            IntegrityCheck(
                .kernel, "no dumps", is: .notMet, by: "fs.suid_dumpable=1: programs with other rights can be dumped and traced",
                measure: "sysctl fs.suid_dumpable=0")
        case nil: IntegrityCheck(.kernel, "no dumps", is: .unknown, by: "fs.suid_dumpable cannot be read")
        case .some(let value): IntegrityCheck(.kernel, "no dumps", is: .met, by: "fs.suid_dumpable=\(value)")
        }
    }
}
