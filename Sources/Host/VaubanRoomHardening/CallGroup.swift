internal import Glibc

/// A table of system calls for one purpose. Names that an architecture lacks are left out there.
package struct CallGroup: Sendable {
    /// The name in the specification.
    package let name: String
    /// The calls that are allowed with any arguments.
    package let calls: [String]
    /// The calls that depend on an argument.
    package let conditional: [CallRule]

    private init(_ name: String, _ calls: String, conditional: [CallRule] = []) {
        self.name = name
        self.calls = calls.split(whereSeparator: \.isWhitespace).map(String.init)
        self.conditional = conditional
    }

    var rules: [CallRule] { calls.map { CallRule($0, .allow) } + conditional }

    /// Threads, memory, time and the process's own state: what the Swift runtime, Foundation and glibc need.
    package static let running = CallGroup(
        "running",
        """
        brk munmap mremap madvise mincore msync membarrier mlock mlock2 munlock map_shadow_stack
        futex futex_waitv futex_wait futex_wake futex_requeue set_robust_list get_robust_list rseq set_tid_address exit exit_group
        getpid gettid getppid getuid geteuid getgid getegid getresuid getresgid getpgrp getsid getrusage getrlimit ugetrlimit
        sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min getcpu
        getpriority setpriority
        rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack restart_syscall pause
        clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time
        getrandom uname sysinfo umask getcwd
        """)

    /// Reading, writing and waiting on open descriptors.
    package static let streams = CallGroup(
        "streams",
        """
        read readv write writev close close_range dup dup2 dup3 fcntl pipe pipe2
        poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd2
        timerfd_create timerfd_settime timerfd_gettime
        recvmsg recvfrom sendmsg sendto shutdown getsockopt setsockopt getsockname getpeername
        """)

    /// Reading metadata of files, which Landlock does not restrict.
    package static let looking = CallGroup(
        "looking",
        """
        fstat stat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat getdents64 statfs fstatfs listxattr
        """)

    /// A state folder, and pages for secrets.
    package static let keeping = CallGroup(
        "keeping",
        """
        open openat lseek pread64 pwrite64 preadv pwritev fsync fdatasync ftruncate fallocate fadvise64 flock
        mkdir mkdirat unlink unlinkat rename renameat renameat2 fchmod fchown utimensat memfd_create memfd_secret
        """)

    /// Opening files without any way to change one.
    package static let reading = CallGroup("reading", "", conditional: ["open", "openat"].flatMap(readOnly))

    /// Accepting connections on the inherited socket.
    package static let accepting = CallGroup("accepting", "accept accept4")

    /// Connecting to the enclave's socket, and no other address family.
    package static let dialing = CallGroup(
        "dialing", "connect pidfd_open",
        conditional: [
            CallRule("socket", .allow, when: .equal(0, UInt64(AF_UNIX))), CallRule("socket", .kill, when: .notEqual(0, UInt64(AF_UNIX))),
        ])

    /// Binding an address. Since version 254 libsystemd binds its end of a bus connection to an abstract name before it connects. Landlock
    /// prevents binding in the file system, and without `listen` no process can connect to such a name.
    package static let naming = CallGroup("naming", "bind")

    /// Connecting to other machines besides Unix sockets, and looking up their names: over UDP, and from the kernel's list of addresses
    /// (AF_NETLINK), for which glibc binds its end; it seeks in the list of hosts. No other address family is allowed, and Landlock denies
    /// binding TCP.
    package static let networking = CallGroup(
        "networking", "connect pidfd_open bind lseek sendmmsg recvmmsg",
        conditional: [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK].map { CallRule("socket", .allow, when: .equal(0, UInt64($0))) })

    /// The same for a program that runs as the user, but without Unix sockets, since the user's bus and systemd would start any program for
    /// it. glibc first tries nscd and systemd-resolved, and queries the name servers itself when that is refused.
    package static let internet = CallGroup(
        "internet", "connect bind lseek sendmmsg recvmmsg",
        conditional: [AF_INET, AF_INET6, AF_NETLINK].map { CallRule("socket", .allow, when: .equal(0, UInt64($0))) }
            + [CallRule("socket", .refuse, when: .equal(0, UInt64(AF_UNIX)))])

    private static func readOnly(_ call: String) -> [CallRule] {
        let flags: UInt32 = call == "open" ? 1 : 2
        // O_TMPFILE without the bits of O_DIRECTORY, which it contains.
        let makes = UInt64(O_CREAT | O_TRUNC) | 0o20000000
        let mode = UInt64(O_ACCMODE)
        return [
            CallRule(call, .allow, when: .masked(flags, mask: mode | makes, value: UInt64(O_RDONLY))),
            CallRule(call, .refuse, when: .masked(flags, mask: mode, value: UInt64(O_WRONLY))),
            CallRule(call, .refuse, when: .masked(flags, mask: mode, value: UInt64(O_RDWR))),
            CallRule(call, .refuse, when: .masked(flags, mask: UInt64(O_CREAT), value: UInt64(O_CREAT))),
            CallRule(call, .refuse, when: .masked(flags, mask: UInt64(O_TRUNC), value: UInt64(O_TRUNC))),
            CallRule(call, .refuse, when: .masked(flags, mask: 0o20000000, value: 0o20000000)),
        ]
    }

    /// Calls of every room that depend on an argument.
    package static var conditions: [CallRule] {
        let executable = UInt64(PROT_EXEC)
        // CLONE_THREAD, and the flags that create namespaces of the kinds mount, cgroup, uts, ipc, user, pid and network.
        let thread: UInt64 = 0x0001_0000
        let namespaces: UInt64 = 0x7E02_0000
        let own = UInt64(UInt32(bitPattern: getpid()))
        let word: UInt64 = 0xFFFF_FFFF
        return [
            // New code is not allowed: neither mapped executable, nor made executable after writing.
            CallRule("mmap", .allow, when: .masked(2, mask: executable, value: 0)),
            CallRule("mmap", .kill, when: .masked(2, mask: executable, value: executable)),
            CallRule("mprotect", .allow, when: .masked(2, mask: executable, value: 0)),
            CallRule("mprotect", .kill, when: .masked(2, mask: executable, value: executable)),
            // Threads, but no processes. clone3 passes its flags in memory, so it returns ENOSYS and glibc falls back to clone.
            CallRule("clone", .allow, when: .masked(0, mask: thread | namespaces, value: thread)),
            CallRule("clone", .kill, when: .masked(0, mask: thread, value: 0)),
            // Setting names of threads and memory is allowed; becoming dumpable or permitting a tracer ends the process.
            CallRule("prctl", .allow, when: .equal(0, 15)),  // PR_SET_NAME
            CallRule("prctl", .allow, when: .equal(0, 16)),  // PR_GET_NAME
            CallRule("prctl", .allow, when: .equal(0, 0x5356_4D41)),  // PR_SET_VMA
            CallRule("prctl", .kill, when: .masked(0, mask: word, value: 4)),  // PR_SET_DUMPABLE
            CallRule("prctl", .kill, when: .masked(0, mask: word, value: 0x5961_6D61)),  // PR_SET_PTRACER
            // Limits may be read but not set.
            CallRule("prlimit64", .allow, when: .equal(2, 0)),
            // A process aborts by sending itself a signal; signal 0 tests whether a process exists.
            CallRule("tgkill", .allow, when: .equal(0, own)),
            CallRule("tgkill", .refuse, when: .notEqual(0, own)),
            CallRule("kill", .allow, when: .equal(1, 0)),
            CallRule("kill", .refuse, when: .notEqual(1, 0)),
            // Checking for a terminal and the readable bytes is allowed; typing into the controlling terminal ends the process.
            CallRule("ioctl", .allow, when: .equal(1, 0x5401)),  // TCGETS
            CallRule("ioctl", .allow, when: .equal(1, 0x541B)),  // FIONREAD
            CallRule("ioctl", .kill, when: .masked(1, mask: word, value: 0x5412)),  // TIOCSTI
            CallRule("ioctl", .kill, when: .masked(1, mask: word, value: 0x541C)),  // TIOCLINUX
        ]
    }

    /// Calls that no room needs. A room that makes one was taken over by an attacker.
    package static let dangerous = """
        execve execveat fork vfork
        ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp
        bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register
        keyctl add_key request_key
        mount umount umount2 mount_setattr move_mount open_tree fsopen fsconfig fsmount fspick pivot_root chroot
        unshare setns open_by_handle_at
        setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capset personality
        init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct
        settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname syslog
        iopl ioperm modify_ldt vmsplice seccomp
        """.split(whereSeparator: \.isWhitespace).map(String.init)
}
