#define _GNU_SOURCE
#include "CVaubanProbe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

long vauban_probe_call(const char *name, const long arguments[6]) {
    int number = seccomp_syscall_resolve_name(name);
    if (number < 0) return -ENOENT * 1000L;
    long result = syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
    return result < 0 ? -errno : result;
}

pid_t vauban_probe_fork(void) { return fork(); }

static int ending(int status) { return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status); }

int vauban_probe_wait(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -errno;
    return ending(status);
}

int vauban_probe_trace(char *const argv[]) {
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(126);
        execvp(argv[0], argv);
        _exit(127);
    }
    int status;
    while (waitpid(child, &status, 0) == child) {
        if (!WIFSTOPPED(status)) return ending(status);
        int number = WSTOPSIG(status);
        ptrace(PTRACE_CONT, child, 0, (long)(number == SIGTRAP ? 0 : number));
    }
    return -errno;
}

int vauban_probe_attach(pid_t pid) {
    if (ptrace(PTRACE_ATTACH, pid, 0, 0) != 0) return -errno;
    waitpid(pid, NULL, __WALL);
    ptrace(PTRACE_DETACH, pid, 0, 0);
    return 0;
}

int vauban_probe_read_memory(pid_t pid, uint64_t address) {
    char path[64], byte;
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    int problem = pread(file, &byte, 1, (off_t)address) == 1 ? 0 : -errno;
    close(file);
    return problem;
}

int vauban_probe_copy_memory(pid_t pid, uint64_t address) {
    char byte;
    struct iovec own = {&byte, 1}, other = {(void *)(uintptr_t)address, 1};
    return process_vm_readv(pid, &own, 1, &other, 1, 0) == 1 ? 0 : -errno;
}

int vauban_probe_take_descriptor(pid_t pid) {
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process < 0) return -errno;
    int taken = (int)syscall(SYS_pidfd_getfd, process, 2, 0);
    int problem = taken < 0 ? -errno : 0;
    close(process);
    if (taken >= 0) close(taken);
    return problem;
}

/* Of user space alone: the kernel itself may be observed by root only, whatever the process is (kernel.perf_event_paranoid). */
static int observe(pid_t pid, struct perf_event_attr attributes) {
    attributes.size = sizeof attributes;
    attributes.disabled = attributes.exclude_kernel = attributes.exclude_hv = 1;
    int event = (int)syscall(SYS_perf_event_open, &attributes, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (event < 0) return -errno;
    close(event);
    return 0;
}

int vauban_probe_sample(pid_t pid) {
    return observe(pid, (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = 1000000, .sample_type = PERF_SAMPLE_IP});
}

int vauban_probe_break(pid_t pid, uint64_t address) {
    return observe(pid, (struct perf_event_attr){.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_X, .bp_addr = address,
        .bp_len = sizeof(long), .sample_period = 1, .sample_type = PERF_SAMPLE_IP});
}

int vauban_probe_open_code(void) {
    uintptr_t page = (uintptr_t)&vauban_probe_open_code & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
    return mprotect((void *)page, 1, PROT_READ | PROT_WRITE | PROT_EXEC) == 0 ? 0 : -errno;
}

int vauban_probe_dial_network(void) {
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0) return -errno;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    return connect(connection, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : -errno;
}

static int abstract(const char *name, struct sockaddr_un *address, socklen_t *length) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    strncpy(address->sun_path + 1, name, sizeof address->sun_path - 2);
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connection < 0 ? -errno : connection;
}

int vauban_probe_dial_abstract(const char *name) {
    struct sockaddr_un address;
    socklen_t length;
    int connection = abstract(name, &address, &length);
    if (connection < 0) return connection;
    return connect(connection, (struct sockaddr *)&address, length) == 0 ? 0 : -errno;
}
