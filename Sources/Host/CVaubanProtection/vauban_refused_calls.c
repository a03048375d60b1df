/* The filter of system calls for arbitrary programs. It allows everything except what only debuggers, administrators and attackers use. A
   list of allowed calls, as rooms have, is possible only for a known program. */
#define _GNU_SOURCE
#include "CVaubanProtection.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the filter of system calls has no number for this architecture"
#endif

/* Defined here, since the headers may be older than the kernel. Numbers from 424 on are the same on every architecture. */
#define CALL_OPEN_TREE 428
#define CALL_MOVE_MOUNT 429
#define CALL_FSOPEN 430
#define CALL_FSPICK 433
#define CALL_CLONE3 435
#define CALL_PIDFD_GETFD 438
#define CALL_MOUNT_SETATTR 442
#define CALL_OPEN_TREE_ATTR 467
#ifndef TIOCLINUX
#define TIOCLINUX 0x541C
#endif
#ifndef PR_SET_MM
#define PR_SET_MM 35
#endif
#define X32_CALLS 0x40000000U

static const uint32_t refused[] = {
    /* Access to other processes: their memory, registers and descriptors. */
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, CALL_PIDFD_GETFD,
    /* Probes and programs in the kernel, and page faults handled in user space, which make errors in the kernel easy to exploit. */
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
    /* Kernel modules, starting another kernel, I/O ports. */
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_kexec_file_load, SYS_reboot,
#ifdef SYS_iopl
    SYS_iopl, SYS_ioperm,
#endif
    /* Mounts and swap. */
    SYS_mount, SYS_umount2, SYS_pivot_root, CALL_OPEN_TREE, CALL_MOVE_MOUNT, CALL_FSOPEN, CALL_FSPICK, CALL_MOUNT_SETATTR,
    CALL_OPEN_TREE_ATTR, SYS_swapon, SYS_swapoff,
};

/* CLONE_NEWTIME is not included: in the flags of clone, its bit is part of the exit signal. */
#define NAMESPACES (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define NEW_TIME_NAMESPACE 0x80

#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define UNKNOWN BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
/* Loads the lower half of an argument; the kernel ignores the upper half of these. Both architectures are little-endian. */
#define LOAD_ARGUMENT(number) LOAD(args[number])
#define LOAD_UPPER_HALF(number) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[number]) + 4)
#define SKIP_IF_EQUAL(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (skipped), 0)
/* Skips that many instructions if the values differ. */
#define UNLESS_EQUAL(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skipped))
#define UNLESS_ANY(bits, skipped) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, (skipped))

int vauban_protection_refuse_calls(bool allows_calls, bool allows_namespaces) {
    struct sock_filter filter[2 * sizeof refused / sizeof *refused + 64];
    unsigned short count = 0;
#define ADD(...)                                                                                                                          \
    do {                                                                                                                                  \
        const struct sock_filter added[] = {__VA_ARGS__};                                                                                 \
        for (size_t index = 0; index < sizeof added / sizeof *added; index++) filter[count++] = added[index];                             \
    } while (0)
    /* 32-bit programs use other call numbers, which this filter does not list, so it does not let them run. */
    ADD(LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    ADD(LOAD(nr));
#if defined(__x86_64__)
    ADD(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1), UNKNOWN);
#endif
    if (!allows_calls) {
        for (size_t index = 0; index < sizeof refused / sizeof *refused; index++) ADD(UNLESS_EQUAL(refused[index], 1), REFUSE);
        /* What the kernel records about this process's executable and the location of its parts; and its own memory as a file, through
           which it could overwrite code. */
        ADD(UNLESS_EQUAL(SYS_prctl, 8), LOAD_ARGUMENT(0), UNLESS_EQUAL(PR_SET_MM, 1), REFUSE, UNLESS_EQUAL(PR_SET_DUMPABLE, 3),
            LOAD_ARGUMENT(1), SKIP_IF_EQUAL(0, 1), REFUSE, ALLOW);
        /* Setting limits of another process: a limit on processor time ends it. */
        ADD(UNLESS_EQUAL(SYS_prlimit64, 10), LOAD_ARGUMENT(0), UNLESS_EQUAL(0, 1), ALLOW, LOAD_ARGUMENT(2), SKIP_IF_EQUAL(0, 1), REFUSE,
            LOAD_UPPER_HALF(2), SKIP_IF_EQUAL(0, 1), REFUSE, ALLOW);
        ADD(UNLESS_EQUAL(SYS_ioctl, 6), LOAD_ARGUMENT(1), UNLESS_EQUAL(TIOCSTI, 1), REFUSE, UNLESS_EQUAL(TIOCLINUX, 1), REFUSE, ALLOW);
    }
    if (!allows_namespaces) {
        ADD(UNLESS_EQUAL(SYS_setns, 1), REFUSE);
        ADD(UNLESS_EQUAL(SYS_unshare, 4), LOAD_ARGUMENT(0), UNLESS_ANY(NAMESPACES | NEW_TIME_NAMESPACE, 1), REFUSE, ALLOW);
        ADD(UNLESS_EQUAL(SYS_clone, 4), LOAD_ARGUMENT(0), UNLESS_ANY(NAMESPACES, 1), REFUSE, ALLOW);
        /* The flags of clone3 are in memory, which a filter cannot read. On ENOSYS the C library uses clone. */
        ADD(UNLESS_EQUAL(CALL_CLONE3, 1), UNKNOWN);
    }
    ADD(ALLOW);
    struct sock_fprog program = {count, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
    long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    /* A positive number is the thread that could not get the filter. */
    return result == 0 ? 0 : result < 0 ? -errno : -ESRCH;
}

bool vauban_protection_has_filters(void) {
    uint32_t action = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}
